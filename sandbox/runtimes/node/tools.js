'use strict';
// Tools: functions of the client that a program calls, over the job socket (proto/internal/slotmsg.h).
//
// The program finds them as `tools`: await tools.search({ query }), or tools.search.sync({ query }),
// which blocks.  The loop watches the socket while a promise waits.

const { readSync, writeSync } = require('fs');
const { JOB, HEAD_LEN, MAGIC, numberAt } = require('./job.js');

const CALL = 9, RETURN = 10;

class ToolError extends Error {
  constructor(code, message, data) {
    super(`${code}: ${message}`);
    this.code = code;
    this.reason = message;
    if (data !== undefined) this.data = data;
  }
}
ToolError.prototype.name = 'ToolError';

// ---- out -------------------------------------------------------------------------------------

let mostCalls = 0, mostBytes = 0;
let calls = 0; // the number of the last one
const waiting = new Map(); // number -> { resolve, reject }

// Once the loop has watched the socket, it does not block any more.
const bell = new Int32Array(new SharedArrayBuffer(4));
const nap = () => Atomics.wait(bell, 0, 0, 1);

function patiently(work) {
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (error.code !== 'EAGAIN') throw new ToolError('gone', 'nobody is there to answer');
      nap();
    }
  }
}

function post(name, args) {
  let text;
  try {
    text = JSON.stringify(args);
  } catch (error) {
    throw new ToolError('bad_arguments', error.message);
  }
  if (text === undefined) throw new ToolError('bad_arguments', 'the arguments are not JSON');
  const body = Buffer.from(`${name}\0${text}`);
  if (body.length - name.length - 1 > mostBytes)
    throw new ToolError('too_large', `the arguments have more than ${mostBytes} bytes`);
  if (calls >= mostCalls) throw new ToolError('too_many', 'the run may make no more calls');
  const message = Buffer.alloc(HEAD_LEN + body.length);
  [MAGIC, CALL, body.length, ++calls].forEach((value, i) => message.writeUInt32LE(value, 4 * i));
  body.copy(message, HEAD_LEN);
  for (let at = 0; at < message.length;) at += patiently(() => writeSync(JOB, message, at));
  return calls;
}

// ---- in --------------------------------------------------------------------------------------

let rest = Buffer.alloc(0); // bytes of answers that are not complete

function settle(number, isResult, body) {
  const waiter = waiting.get(number);
  if (!waiter) return;
  waiting.delete(number);
  const value = JSON.parse(body);
  if (isResult) waiter.resolve(value);
  else waiter.reject(new ToolError(value.code, value.message, value.data));
}

function take(piece) {
  rest = rest.length ? Buffer.concat([rest, piece]) : piece;
  while (rest.length >= HEAD_LEN) {
    const end = HEAD_LEN + numberAt(rest, 8);
    if (rest.length < end) break;
    settle(numberAt(rest, 12), numberAt(rest, 4) === RETURN, rest.toString('utf8', HEAD_LEN, end));
    rest = rest.subarray(end);
  }
  if (!waiting.size) socket?.unref();
}

function giveUp() {
  for (const number of [...waiting.keys()])
    settle(number, false, '{"code":"gone","message":"nobody is there to answer"}');
}

// ---- waiting ---------------------------------------------------------------------------------

let socket = null; // made at the first call that does not block

function listen() {
  if (!socket) {
    socket = new (require('net').Socket)({ fd: JOB, readable: true, writable: false });
    socket.on('data', take);
    socket.on('error', giveUp);
    socket.on('close', giveUp);
  }
  socket.ref();
}

function callLater(name, args) {
  return new Promise((resolve, reject) => {
    waiting.set(post(name, args), { resolve, reject });
    listen();
  });
}

const room = Buffer.alloc(64 << 10);

function callNow(name, args) {
  const number = post(name, args);
  let answer = null;
  waiting.set(number, {
    resolve: (value) => { answer = { value }; },
    reject: (error) => { answer = { error }; },
  });
  while (!answer) {
    const got = patiently(() => readSync(JOB, room, 0, room.length, null));
    if (got) take(Buffer.from(room.subarray(0, got)));
    else giveUp();
  }
  if (answer.error) throw answer.error;
  return answer.value;
}

// ---- what the program sees -------------------------------------------------------------------

// One object holds all arguments.  Other values get the names of the schema's properties, in their order.
function named(params, values) {
  const [only] = values;
  if (values.length === 0) return {};
  if (values.length === 1 && typeof only === 'object' && only !== null && !Array.isArray(only)) return only;
  if (values.length > params.length) throw new TypeError(`the tool takes ${params.length} arguments`);
  return Object.fromEntries(values.map((value, i) => [params[i], value]));
}

function functionOf(name, params) {
  const call = async (...values) => callLater(name, named(params, values));
  call.sync = (...values) => callNow(name, named(params, values));
  for (const made of [call, call.sync]) Object.defineProperty(made, 'name', { value: name });
  return call;
}

function define(name, value) {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
}

module.exports = (text) => {
  const spec = JSON.parse(text);
  const tools = { ToolError };
  mostCalls = spec.calls;
  mostBytes = spec.bytes;
  for (const [name, params] of spec.tools) tools[name] = functionOf(name, params);
  define('tools', tools);
  define('codemode', tools);
  if (spec.as === 'module') return;
  define('ToolError', ToolError);
  for (const [name] of spec.tools) define(name, spec.as === 'async' ? tools[name] : tools[name].sync);
};
