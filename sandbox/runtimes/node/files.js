'use strict';
// Writes a job's files and stdin to where its program looks for them.

const { closeSync, fchmodSync, mkdirSync, openSync, renameSync, unlinkSync, writeSync } = require('fs');
const path = require('path');

const WORK = '/work/';

let ahead = null; // a file with the usual name, made before the job comes

function createFile(name, mode = 0o644) {
  if (name.includes('/')) mkdirSync(WORK + path.dirname(name), { recursive: true, mode: 0o755 });
  return openSync(WORK + name, 'wx', mode);
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

function writeFile({ path: name, mode, data }) {
  const fd = createFile(name, mode);
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

// An error of the system about descriptor 0 leaves it closed, or with a part of what was to come.
function takeCellStdin(data) {
  try {
    hasNumber0(takeStdin(data));
  } catch (error) {
    if (!error.code) throw error;
    closeQuietly(0);
    hasNumber0(openSync('/dev/null', 'r+'));
    throw new Error(`${error.message} (stdin)`);
  }
}

function closeQuietly(fd) {
  try {
    closeSync(fd);
  } catch {
    // it is closed
  }
}

function removeFile(name) {
  try {
    unlinkSync(WORK + name);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
}

// The old file may be one that its owner cannot write, so it is not opened.  A part of a file helps nobody.
function replaceFile(file) {
  const name = file.path;
  let fd = -1;
  try {
    removeFile(name);
    fd = createFile(name, file.mode);
    fchmodSync(fd, file.mode & 0o777);
    for (let at = 0; at < file.data.length;) at += writeSync(fd, file.data, at);
  } catch (error) {
    if (fd >= 0) removeFile(name);
    throw new Error(`${error.message} (file ${name})`);
  } finally {
    if (fd >= 0) closeSync(fd);
  }
}

// Files of a later cell replace those that are there.
function writeCellFiles(job, isFirst) {
  if (isFirst) dropFileAhead();
  for (const file of job.files) (isFirst ? writeFile : replaceFile)(file);
  const hadStdin = hasStdin;
  hasStdin = false;
  if (job.stdin) takeCellStdin(job.stdin);
  else if (hadStdin) emptyStdin();
  hasStdin = job.stdin !== undefined;
}

module.exports = { WORK, makeFileAhead, writeFiles, writeCellFiles };
