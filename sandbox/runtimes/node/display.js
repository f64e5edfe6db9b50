'use strict';
// What a program displays: the value of its last expression, and what it passes to display().
//
// Only sessions load this, and runs that ask for it.  Items go to the daemon as JOB_DISPLAY; the format
// and its bounds are those of proto/job/job_display.h.

const { writeSync } = require('fs');
const { inspect, types } = require('util');
const vm = require('vm');
const { DISPLAY, HEAD_LEN, JOB, head, patiently } = require('./job.js');

const TEXT_MOST = 1 << 20; // characters of a text
const PLAIN_MOST = 256 << 10; // of the JSON text of an object or an array
const JSON_MOST = 4 << 20; // ... that display.mime() is given
const TYPES_MOST = 16;
const TYPE_MOST = 127;
const DEPTH_MOST = 13; // of a JSON value: the item and its data are around it
const PIECE_MOST = 128 << 10; // bytes in one message
const TYPE = /^[a-z0-9!#$&^_+-][a-z0-9!#$&^_.+-]*\/[a-z0-9!#$&^_+-][a-z0-9!#$&^_.+-]*$/;

const { parse, stringify } = JSON;
const { getPrototypeOf, entries, keys } = Object;
const { isArray } = Array;
const { isSafeInteger } = Number;
const { defineProperty } = Reflect; // which returns false where it cannot

// ---- msgpack ---------------------------------------------------------------------------------

const FORMS = {
  str: { fix: 0xa0, fixMost: 31, wide: [0xd9, 0xda, 0xdb] },
  bin: { fix: 0, fixMost: -1, wide: [0xc4, 0xc5, 0xc6] },
  list: { fix: 0x90, fixMost: 15, wide: [null, 0xdc, 0xdd] },
  map: { fix: 0x80, fixMost: 15, wide: [null, 0xde, 0xdf] },
};

function headOf({ fix, fixMost, wide }, count) {
  if (count <= fixMost) return Buffer.from([fix | count]);
  if (count < 256 && wide[0] !== null) return Buffer.from([wide[0], count]);
  if (count < 65536) return Buffer.from([wide[1], count >> 8, count & 255]);
  const long = Buffer.alloc(5, wide[2]);
  long.writeUInt32BE(count, 1);
  return long;
}

function numberOf(value) {
  const bytes = Buffer.alloc(9);
  if (isSafeInteger(value) && !Object.is(value, -0)) {
    bytes[0] = 0xd3;
    bytes.writeBigInt64BE(BigInt(value), 1);
  } else {
    bytes[0] = 0xcb;
    bytes.writeDoubleBE(value, 1);
  }
  return bytes;
}

// `value` is a string, bytes, or what JSON.parse() returns.
function put(parts, value) {
  if (value === null) parts.push(Buffer.from([0xc0]));
  else if (typeof value === 'boolean') parts.push(Buffer.from([value ? 0xc3 : 0xc2]));
  else if (typeof value === 'number') parts.push(numberOf(value));
  else if (typeof value === 'string') {
    const text = Buffer.from(value, 'utf8');
    parts.push(headOf(FORMS.str, text.length), text);
  } else if (types.isUint8Array(value)) {
    parts.push(headOf(FORMS.bin, value.length), value);
  } else if (isArray(value)) {
    parts.push(headOf(FORMS.list, value.length));
    for (const item of value) put(parts, item);
  } else {
    const pairs = entries(value);
    parts.push(headOf(FORMS.map, pairs.length));
    for (const [key, item] of pairs) {
      put(parts, key);
      put(parts, item);
    }
  }
}

// ---- sending ---------------------------------------------------------------------------------

function writeAll(bytes) {
  for (let at = 0; at < bytes.length;)
    at += patiently(() => writeSync(JOB, bytes, at, bytes.length - at, null));
}

let isHeard = true; // false: in a cell of a session that does not display, this goes nowhere

function send(data, isMain) {
  if (!isHeard) return;
  const parts = [];
  put(parts, { main: isMain, data });
  const bytes = Buffer.concat(parts);
  for (let at = 0; at < bytes.length; at += PIECE_MOST) {
    const piece = bytes.subarray(at, at + PIECE_MOST);
    writeAll(Buffer.concat([Buffer.from(head(DISPLAY, 0, piece.length), 'latin1'), piece], HEAD_LEN + piece.length));
  }
}

// ---- values in media types -------------------------------------------------------------------

function fits(value, depth) {
  if (value === null || typeof value !== 'object') return true;
  return depth > 0 && keys(value).every((key) => fits(value[key], depth - 1));
}

// What the value is as JSON; undefined: it has no such form, or it is too large.
function asJson(value, most) {
  try {
    const text = stringify(value);
    const made = text !== undefined && text.length <= most ? parse(text) : undefined;
    return made !== undefined && fits(made, DEPTH_MOST) ? made : undefined;
  } catch {
    return undefined; // a cycle, or a bigint
  }
}

function isPlain(value) {
  if (value === null || typeof value !== 'object') return false;
  const kind = getPrototypeOf(value);
  return isArray(value) || kind === Object.prototype || kind === null;
}

function textOf(value) {
  try {
    return inspect(value).slice(0, TEXT_MOST);
  } catch (error) {
    return `<inspect failed: ${error?.name}>`;
  }
}

function typesOf(value) {
  const data = { 'text/plain': textOf(value) };
  const json = isPlain(value) ? asJson(value, PLAIN_MOST) : undefined;
  if (json !== undefined) data['application/json'] = json;
  return data;
}

function contentOf(type, content) {
  if (type === 'application/json' || type.endsWith('+json')) return asJson(content, JSON_MOST);
  if (typeof content === 'string' || types.isUint8Array(content)) return content;
  return undefined;
}

// Displays each value as text, and plain objects and arrays as JSON, too.
function display(...values) {
  for (const value of values) send(typesOf(value), false);
}

// Displays one thing in the given media types: {'text/html': '<b>…</b>', 'image/png': bytes}.
display.mime = function mime(given) {
  const data = {};
  for (const [type, content] of entries(given)) {
    if (!TYPE.test(type) || type.length > TYPE_MOST) throw new TypeError(`not a media type: ${inspect(type)}`);
    const made = contentOf(type, content);
    if (made === undefined) throw new TypeError(`no content of ${type}`);
    data[type] = made;
  }
  const count = keys(data).length;
  if (count === 0 || count > TYPES_MOST) throw new TypeError(`1 to ${TYPES_MOST} media types, not ${count}`);
  send(data, false);
};

function showValue(value) {
  if (value !== undefined) send(typesOf(value), true);
}

// A promise is shown when it is fulfilled; if it is rejected, node reports that.
function showMain(value) {
  if (types.isPromise(value)) value.then(showMain);
  else showValue(value);
}

// ---- the program -----------------------------------------------------------------------------

// The frame of this call has a name of node's own, so no report shows it.
const CALL = vm.compileFunction('show(run())', ['run', 'show'], { filename: 'node:internal/display' });

// A script that node -p could run: its value is that of its last expression.  null: it is none, as with
// a `return` at the top.
function scriptOf(source, options) {
  try {
    return new vm.Script(source, options);
  } catch {
    return null;
  }
}

// Returns the call of the program, as node -p makes it: with globals in place of parameters.
function callOf(source, options, names) {
  const script = scriptOf(source, options);
  if (!script) return null;
  for (const [name, value] of entries(names))
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  return CALL.bind(null, script.runInThisContext.bind(script), showMain);
}

function start() {
  defineProperty(globalThis, 'display', { value: display, writable: true, configurable: true });
}

// ---- cells of a session ------------------------------------------------------------------------

let isDefined = false;

// The function stays, so those of an earlier cell that use it display in the cell that calls them.
function hear(isOn) {
  isHeard = isOn;
  if (!isOn || isDefined) return;
  isDefined = true;
  start();
}

module.exports = { start, callOf, hear, showValue };
