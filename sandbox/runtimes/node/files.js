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
  openSync(name, 'wx+', 0o600);
  unlinkSync(name);
  for (let at = 0; at < data.length;) at += writeSync(0, data, at, data.length - at, at);
}

function writeFiles(job) {
  fillFile(takeFile(job.name), job.bytes, job.codeAt, job.codeLen);
  job.files.forEach(writeFile);
  if (job.stdin) takeStdin(job.stdin);
}

module.exports = { WORK, makeFileAhead, writeFiles };
