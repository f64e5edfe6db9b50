'use strict';
// The job socket: one job comes, and messages go back (proto/internal/slotmsg.h).

const { readSync, writeSync } = require('fs');

const JOB = 3;
const HEAD_LEN = 16;
const MAGIC = 0x43454401;
const START = 1, CELL = 13, READY = 2, FAILED = 3, BEGUN = 4, ERROR = 5, DONE = 6, DISPLAY = 12;
const STDIN_INLINE = 2;

const reallyExit = process.reallyExit.bind(process);
const stringify = JSON.stringify;
const { fromCharCode } = String;
const codeAt = Function.prototype.call.bind(String.prototype.charCodeAt);

// ---- messages --------------------------------------------------------------------------------

// The program may have changed every prototype, so messages are put together from plain strings.
const HEX = '0123456789abcdef';

function littleEndian(value) {
  return fromCharCode(value & 255, (value >> 8) & 255, (value >> 16) & 255, (value >> 24) & 255);
}

// JSON in ASCII, so that each character is one byte.
function plainJson(value) {
  const json = stringify(value);
  let text = '';
  for (let i = 0; i < json.length; i++) {
    const code = codeAt(json, i);
    text += code < 128 ? json[i] : `\\u${HEX[code >> 12]}${HEX[(code >> 8) & 15]}${HEX[(code >> 4) & 15]}${HEX[code & 15]}`;
  }
  return text;
}

// Once the loop has watched the socket for answers of tools, it does not block any more.
const bell = new Int32Array(new SharedArrayBuffer(4));
const { wait } = Atomics;

function patiently(work) {
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      wait(bell, 0, 0, 1);
    }
  }
}

let line = JOB; // where messages go: in a rehearsal to /dev/null

function speakTo(fd = JOB) {
  line = fd;
}

function send(rest) {
  while (rest.length) {
    const sent = patiently(() => writeSync(line, rest, null, 'latin1'));
    let left = '';
    for (let i = sent; i < rest.length; i++) left += rest[i];
    rest = left;
  }
}

function head(kind, code, len) {
  return littleEndian(MAGIC) + littleEndian(kind) + littleEndian(len) + littleEndian(code);
}

function word(kind, code, body) {
  return head(kind, code, body.length) + body;
}

function tell(kind, code, body = '') {
  send(word(kind, code, body));
}

const BEGUN_WORD = word(BEGUN, 0, '');

function tellBegun() {
  send(BEGUN_WORD);
}

// Waits until the daemon kills everything here.
const byte = Buffer.alloc(1);

function linger() {
  try {
    while (readSync(line, byte, 0, 1, null) > 0);
  } catch {
    // the program has closed it
  }
}

// ---- the job ---------------------------------------------------------------------------------

const room = Buffer.alloc(64 << 10); // few jobs are larger, so one read is enough

// Reads until `bytes`, which has `have` bytes, has `want`; returns the number that it has then.
function readOn(fd, bytes, have, want) {
  while (have < want) {
    const got = patiently(() => readSync(fd, bytes, have, bytes.length - have, null));
    if (got === 0) reallyExit(1); // the daemon is gone
    have += got;
  }
  return have;
}

function numberAt(bytes, at) {
  return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
}

// Numbers and code are read in place: a buffer for each would take longer than all the rest.
function parse(bytes, at, end) {
  const number = () => numberAt(bytes, (at += 4) - 4);
  const long = () => number() + number() * 2 ** 32;
  const text = (len) => (len ? bytes.toString(undefined, at, (at += len)) : '');
  const take = (len) => bytes.subarray(at, (at += len));
  const codeLen = number(), nameLen = number(), args = number(), env = number(), files = number();
  const stdin = number(), flags = number(), rulesLen = number(), toolsLen = number(), turn = number();
  const job = { bytes, codeAt: at, codeLen, code: text(codeLen), name: text(nameLen), flags, turn, args: [], env: [], files: [] };
  at += rulesLen; // rules of a policy: none is enforced here
  job.tools = text(toolsLen);
  for (let i = 0; i < args; i++) job.args.push(text(number()));
  for (let i = 0; i < env; i++) job.env.push(text(number()));
  for (let i = 0; i < (flags >> 16 & 255); i++) number(); // the slot shows the modules of a package set
  for (let i = 0; i < files; i++) {
    const pathLen = number(), mode = number(), dataLen = long();
    job.files.push({ path: text(pathLen), mode, data: take(dataLen) });
  }
  if (stdin === STDIN_INLINE) job.stdin = take(long());
  if (at !== end) reallyExit(1);
  return job;
}

function readJob(fd = JOB, kind = START) {
  const have = readOn(fd, room, 0, HEAD_LEN);
  if (numberAt(room, 0) !== MAGIC || numberAt(room, 4) !== kind) reallyExit(1);
  const end = HEAD_LEN + numberAt(room, 8);
  const bytes = end <= room.length ? room : Buffer.allocUnsafeSlow(end);
  if (bytes !== room) room.copy(bytes, 0, 0, have);
  readOn(fd, bytes, have, end);
  return parse(bytes, HEAD_LEN, end);
}

// The next cell of a session.
function readCell() {
  return readJob(JOB, CELL);
}

// A job as the daemon would send it: a program and its name.
function writeJob(code, name) {
  const head = [MAGIC, START, 40 + code.length + name.length, 0, code.length, name.length, 0, 0, 0, 0, 0, 0, 0, 0];
  return head.map(littleEndian).join('') + code + name;
}

module.exports = { JOB, HEAD_LEN, MAGIC, numberAt, READY, FAILED, ERROR, DONE, DISPLAY, plainJson, head, patiently, speakTo, tell, tellBegun, linger, readJob, readCell, writeJob };
