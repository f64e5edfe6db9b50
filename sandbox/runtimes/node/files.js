'use strict';
// Writes a job's files and stdin to where its program looks for them.

const { closeSync, constants, fchmodSync, mkdirSync, openSync, renameSync, unlinkSync, writeSync } = require('fs');
const path = require('path');

const WORK = '/work/';

let ahead = null; // a file with the usual name, made before the job comes

function createFile(name, mode = 0o644, how = 'wx') {
  if (name.includes('/')) mkdirSync(WORK + path.dirname(name), { recursive: true, mode: 0o755 });
  return openSync(WORK + name, how, mode);
}

function makeFileAhead(name) {
  ahead = { name, fd: createFile(name) };
}

// The file is renamed, not made anew: a deletion would look like the program's doing in `trace: files`.
function takeFile(name) {
  const had = ahead;
  ahead = null;
  if (!had) return createFile(name);
  if (had.name !== name) renameSync(WORK + had.name, WORK + name);
  return had.fd;
}

function fillFile(fd, bytes, from, len) {
  for (let done = 0; done < len;) done += writeSync(fd, bytes, from + done, len - done);
  closeSync(fd);
}

function writeFile({ path: name, mode, data }, how) {
  const fd = createFile(name, mode, how);
  fchmodSync(fd, mode & 0o777); // the umask counted until now
  fillFile(fd, data, 0, data.length);
}

// The next file that is opened gets the lowest free number: so a file without a name becomes stdin.
function takeStdin(data) {
  const name = '/tmp/stdin';
  closeSync(0);
  const fd = openSync(name, 'wx+', 0o600);
  unlinkSync(name);
  for (let at = 0; at < data.length;) at += writeSync(fd, data, at, data.length - at, at);
  return fd;
}

function writeFiles(job) {
  fillFile(takeFile(job.name), job.bytes, job.codeAt, job.codeLen);
  for (const file of job.files) writeFile(file);
  if (job.stdin) takeStdin(job.stdin);
}

// ---- cells of a session ------------------------------------------------------------------------

const { O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants;
const REPLACE = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW;

let hasStdin = false; // the last cell had one

// In a session there is no file of a program.
function dropFileAhead() {
  const had = ahead;
  ahead = null;
  if (!had) return;
  closeSync(had.fd);
  unlinkSync(WORK + had.name);
}

// A thread of the program that opens a file at the same time may get the number of stdin.
function hasNumber0(fd) {
  if (fd !== 0) throw new Error('descriptor 0 was taken while stdin was made');
}

function emptyStdin() {
  closeSync(0);
  hasNumber0(openSync('/dev/null', 'r+'));
}

// Files of a later cell replace those that are there.
function writeCellFiles(job, isFirst) {
  if (isFirst) dropFileAhead();
  for (const file of job.files) writeFile(file, isFirst ? 'wx' : REPLACE);
  if (job.stdin) hasNumber0(takeStdin(job.stdin));
  else if (hasStdin) emptyStdin();
  hasStdin = job.stdin !== undefined;
}

module.exports = { WORK, makeFileAhead, writeFiles, writeCellFiles };
