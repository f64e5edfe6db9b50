'use strict';
// Tools: functions of the client that a program calls, over the job socket (proto/internal/slotmsg.h).
//
// The program finds them as `tools`: await tools.search({ query }), or tools.search.sync({ query }),
// which blocks.  The loop watches the socket while a promise waits.
//
// In a session, an offer is that of one cell: what it has left of its functions calls nobody in a later one.

const { readSync, writeSync } = require('fs');
const { JOB, HEAD_LEN, MAGIC, FAILED, numberAt, tell, linger, patiently: untilReady } = require('./job.js');

const CALL = 9, RETURN = 10, RAISE = 11;

// The program may replace these.
const { parse, stringify } = JSON;
const { defineProperty, deleteProperty, getOwnPropertyDescriptor } = Reflect;
const reallyExit = process.reallyExit.bind(process);

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

let offered = null; // the present offer: { calls, bytes }, of which some calls are left
let calls = 0; // the number of the last one; in a session no two cells use the same, so no answer is mistaken
const waiting = new Map(); // number -> what takes the answer

function patiently(work) {
  try {
    return untilReady(work);
  } catch {
    throw new ToolError('gone', 'nobody is there to answer');
  }
}

// Returns the arguments as JSON, if the call may be made.
function admit(offer, args) {
  if (offer !== offered)
    throw new ToolError('gone', 'the cell to which this tool was offered is over: in each cell, take it from `tools` again');
  let text;
  try {
    text = stringify(args);
  } catch (error) {
    throw new ToolError('bad_arguments', error.message);
  }
  if (text === undefined) throw new ToolError('bad_arguments', 'the arguments are not JSON');
  return text;
}

function post(offer, name, args) {
  const body = Buffer.from(`${name}\0${admit(offer, args)}`);
  if (body.length - name.length - 1 > offer.bytes)
    throw new ToolError('too_large', `the arguments have more than ${offer.bytes} bytes`);
  if (offer.calls <= 0) throw new ToolError('too_many', 'the run may make no more calls');
  offer.calls--;
  const message = Buffer.alloc(HEAD_LEN + body.length);
  [MAGIC, CALL, body.length, ++calls].forEach((value, i) => message.writeUInt32LE(value, 4 * i));
  body.copy(message, HEAD_LEN);
  for (let at = 0; at < message.length;) at += patiently(() => writeSync(JOB, message, at));
  return calls;
}

// ---- in --------------------------------------------------------------------------------------

let rest = Buffer.alloc(0); // bytes of answers that are not complete
let onAnswered = null; // called once when no call waits any more

function settle(number, isResult, body) {
  const give = waiting.get(number);
  if (!give) return;
  waiting.delete(number);
  give({ isResult, value: parse(body) });
}

// Where the program waits, so that a failure names its place.
function open({ isResult, value }) {
  if (isResult) return value;
  throw new ToolError(value.code, value.message, value.data);
}

function tellAnswered() {
  if (waiting.size) return;
  socket?.unref();
  const call = onAnswered;
  onAnswered = null;
  call?.();
}

// What has come is no answer but the next cell: the program has forged the end of this one.
function failNext() {
  tell(FAILED, 0, 'a cell before it has said that it was over, and goes on');
  linger();
  reallyExit(1);
}

function take(piece) {
  rest = rest.length ? Buffer.concat([rest, piece]) : piece;
  while (rest.length >= HEAD_LEN) {
    const kind = numberAt(rest, 4), end = HEAD_LEN + numberAt(rest, 8);
    if (kind !== RETURN && kind !== RAISE) failNext();
    if (rest.length < end) break;
    settle(numberAt(rest, 12), kind === RETURN, rest.toString('utf8', HEAD_LEN, end));
    rest = rest.subarray(end);
  }
  tellAnswered();
}

function giveUp() {
  for (const number of [...waiting.keys()])
    settle(number, false, '{"code":"gone","message":"nobody is there to answer"}');
  tellAnswered();
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

function callLater(offer, name, args) {
  return new Promise((resolve) => {
    waiting.set(post(offer, name, args), resolve);
    listen();
  });
}

const room = Buffer.alloc(64 << 10);

function callNow(offer, name, args) {
  const number = post(offer, name, args);
  let answer = null;
  waiting.set(number, (given) => { answer = given; });
  while (!answer) {
    const got = patiently(() => readSync(JOB, room, 0, room.length, null));
    if (got) take(Buffer.from(room.subarray(0, got)));
    else giveUp();
  }
  return open(answer);
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

function functionOf(offer, name, params) {
  const call = async (...values) => open(await callLater(offer, name, named(params, values)));
  call.sync = (...values) => callNow(offer, name, named(params, values));
  for (const made of [call, call.sync]) defineProperty(made, 'name', { value: name });
  return call;
}

let defined = []; // names and what the program finds under them

function define(name, value) {
  defined.push({ name, value });
  defineProperty(globalThis, name, { value, writable: true, configurable: true });
}

// Gives the program its tools.
function offer(text) {
  const spec = parse(text);
  const tools = { ToolError };
  offered = { calls: spec.calls, bytes: spec.bytes };
  for (const [name, params] of spec.tools) tools[name] = functionOf(offered, name, params);
  define('tools', tools);
  define('codemode', tools);
  if (spec.as === 'module') return;
  define('ToolError', ToolError);
  for (const [name] of spec.tools) define(name, spec.as === 'async' ? tools[name] : tools[name].sync);
}

// ---- cells of a session ------------------------------------------------------------------------

// Whether calls wait for their answers; if so, `call` is called when they all have come.
function waitForAnswers(call) {
  if (waiting.size) onAnswered = call;
  return waiting.size > 0;
}

// No call can be made any more.
function close() {
  offered = null;
}

// Takes the tools away again, with those of their names that the program has not given to something else.
function withdraw() {
  close();
  for (const { name, value } of defined)
    if (getOwnPropertyDescriptor(globalThis, name)?.value === value) deleteProperty(globalThis, name);
  defined = [];
}

module.exports = { offer, waitForAnswers, close, withdraw };
