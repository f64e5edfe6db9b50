'use strict';
// Describes an error of a program as fields: what it is, and where in the program it is.

const { WORK } = require('./files.js');

const FRAMES_MAX = 50;

// "at name (file:line:column)", "at file:line:column" or "at async file:line:column"; and "file:line" above
// the text of an error.
const FRAME = /^\s*at (?:(.*?) \(|async )?(?:file:\/\/)?((?:\/|node:)[^()]*?):(\d+):(\d+)\)?$/;
const HEAD = /^(?:file:\/\/)?(\/work\/.*):(\d+)$/;

function isOurs(file, name, job) {
  if (file.startsWith(__dirname) || file.startsWith('node:internal/')) return true;
  if (job.isCell && file === 'node:inspector') return true; // cells.js has called it
  return job.showing && file === 'node:vm' && name === 'Script.runInThisContext'; // display.js has called it
}

function framesOf(stack, job) {
  const frames = [];
  for (const line of stack.split('\n')) {
    const found = FRAME.exec(line);
    if (found && !isOurs(found[2], found[1], job))
      frames.push({ file: found[2], line: +found[3], column: +found[4], name: found[1] || '' });
  }
  return frames;
}

function lineOf(job, number) {
  return job.code.split('\n', number)[number - 1] || '';
}

// A place in the program itself, or in another file of its folder, which is then named.
function placeIn(job, path, line, column) {
  const file = path.slice(WORK.length);
  if (file === job.name) return { line, column, text: lineOf(job, line) };
  return { file, line, column, text: '' };
}

// The place of an error: from its head for a syntax error, else from the first frame below /work.
function placeOf(job, stack, frames) {
  const head = HEAD.exec(stack.split('\n', 1)[0]);
  if (head) {
    const marks = stack.split('\n', 3)[2] || '';
    const column = /^\s*\^+\s*$/.test(marks) ? marks.indexOf('^') + 1 : 0;
    return placeIn(job, head[1], +head[2], column);
  }
  const frame = frames.find((one) => one.file.startsWith(WORK));
  if (!frame) return { line: 0, column: 0, text: '' };
  return placeIn(job, frame.file, frame.line, frame.column);
}

function cut(text, most) {
  return text.length > most ? text.slice(0, most) + '...' : text;
}

// `known`: where a syntax error is, if its stack does not say it.
function describe(job, error, syntax, known) {
  const isError = error instanceof Error || (error && typeof error.stack === 'string');
  const stack = isError ? String(error.stack) : '';
  const all = syntax ? [] : framesOf(stack, job);
  const place = known ? placeIn(job, WORK + job.name, known.line, known.column) : placeOf(job, stack, all);
  const frames = all.slice(0, FRAMES_MAX).reverse();
  return {
    type: isError ? cut(String(error.name || 'Error'), 256) : typeof error,
    message: cut(String(isError ? error.message : error), 8192),
    ...(place.file && { file: cut(place.file, 256) }),
    line: place.line,
    column: place.column,
    frames: frames.map((one) => ({ file: cut(one.file, 256), line: one.line, name: cut(one.name, 256) })),
    text: cut(place.text, 8192),
    syntax,
  };
}

module.exports = describe;
