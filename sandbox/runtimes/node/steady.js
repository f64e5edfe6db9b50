'use strict';
// The clock and the random numbers of a deterministic run of node: the program's main thread reads the
// same ones in each run.
//
// As in ../steady/steady.c, time begins at START; each reading adds STEP, and a timer adds its delay.
// Not covered: other threads and contexts, keys that OpenSSL makes, times of files.

const START = 946684800000n * 1000000n; // 2000-01-01T00:00:00Z
const STEP = 1000n;
const MILLI = 1000000n;

let passed = 0n; // nanoseconds since the start

const look = () => (passed += STEP);
const passTo = (due) => {
  if (due > passed) passed = due;
};

// ---- random numbers: splitmix64, as in steady.c ---------------------------------------------------

let drawn = 0n;

function draw() {
  const wrap = (number) => BigInt.asUintN(64, number);
  let z = wrap(++drawn * 0x9e3779b97f4a7c15n);
  z = wrap((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = wrap((z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  return z ^ (z >> 31n);
}

function fill(view, from = 0, len = view.byteLength - from) {
  const bytes = new Uint8Array(view.buffer ?? view, (view.byteOffset ?? 0) + from, len);
  for (let at = 0; at < len; at += 8) {
    let eight = draw();
    for (let i = at; i < at + 8 && i < len; i++, eight >>= 8n) bytes[i] = Number(eight & 0xffn);
  }
  return view;
}

// ---- replacing functions of node -----------------------------------------------------------------

const { promisify } = require('util');

// The new function gets the name and the other properties of the real one.
function replace(owner, name, make) {
  const real = owner[name];
  const ours = make(real);
  for (const key of Reflect.ownKeys(real)) {
    if (key !== promisify.custom)
      Object.defineProperty(ours, key, Object.getOwnPropertyDescriptor(real, key));
  }
  Object.defineProperty(owner, name, { value: ours, writable: true, configurable: true,
    enumerable: Object.prototype.propertyIsEnumerable.call(owner, name) });
}

function steadyDate() {
  const Real = Date;
  const now = () => Number((START + look()) / MILLI);
  const Steady = new Proxy(Real, {
    construct: (target, args, type) => Reflect.construct(target, args.length ? args : [now()], type),
    apply: () => new Real(now()).toString(),
  });
  replace(Real, 'now', () => now);
  Real.prototype.constructor = Steady;
  globalThis.Date = Steady;
}

function steadyClocks() {
  const began = passed;
  const bigint = () => look() + 1000n * MILLI;
  replace(process, 'hrtime', () => (before) => {
    const now = bigint();
    const ns = before ? now - (BigInt(before[0]) * 1000n * MILLI + BigInt(before[1])) : now;
    return [Number(ns / (1000n * MILLI)), Number(ns % (1000n * MILLI))];
  });
  process.hrtime.bigint = bigint;
  replace(process, 'uptime', () => () => Number(look() - began) / 1e9);
  Object.defineProperty(performance, 'now', { value: () => Number(look()) / 1e6, writable: true,
    configurable: true });
  Object.defineProperty(performance, 'timeOrigin', { value: Number(START / MILLI), configurable: true });
}

// A timer that fires has waited for its whole delay.
function steadyTimers() {
  const timers = require('timers');
  const promises = require('timers/promises');
  const dueIn = (ms) => passed + BigInt(Math.max(1, Math.trunc(Number(ms)) || 1)) * MILLI;
  for (const owner of [globalThis, timers]) {
    replace(owner, 'setTimeout', (real) => function setTimeout(call, ms, ...args) {
      if (typeof call !== 'function') return real(call, ms, ...args);
      const due = dueIn(ms);
      return real(function (...given) {
        passTo(due);
        return Reflect.apply(call, this, given);
      }, ms, ...args);
    });
    replace(owner, 'setInterval', (real) => function setInterval(call, ms, ...args) {
      if (typeof call !== 'function') return real(call, ms, ...args);
      let due = dueIn(ms);
      return real(function (...given) {
        passTo(due);
        due = dueIn(ms);
        return Reflect.apply(call, this, given);
      }, ms, ...args);
    });
  }
  replace(promises, 'setTimeout', (real) => async function setTimeout(ms, ...rest) {
    const due = dueIn(ms);
    const value = await real(ms, ...rest);
    passTo(due);
    return value;
  });
  for (const owner of [globalThis, timers])
    Object.defineProperty(owner.setTimeout, promisify.custom, { value: promises.setTimeout });
}

function uuid() {
  const bytes = fill(Buffer.alloc(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

// As in node: with a callback the result comes later.
const later = (call, make) => (call ? void setImmediate(() => call(null, make())) : make());

function steadyCrypto() {
  const crypto = require('crypto');
  replace(crypto, 'randomBytes', () => (size, call) => later(call, () => fill(Buffer.alloc(size))));
  replace(crypto, 'randomFillSync', () => (view, from, size) => fill(view, from, size));
  replace(crypto, 'randomFill', () => (view, ...rest) => {
    const call = rest.pop();
    return later(call, () => fill(view, ...rest));
  });
  replace(crypto, 'randomInt', () => (low, high, call) => {
    if (high === undefined || typeof high === 'function') [low, high, call] = [0, low, high];
    return later(call, () => low + Number(draw() % BigInt(high - low)));
  });
  replace(crypto, 'randomUUID', () => uuid);
  const web = Object.getPrototypeOf(crypto.webcrypto);
  replace(web, 'getRandomValues', () => (view) => fill(view));
  replace(web, 'randomUUID', () => uuid);
}

function begin() {
  require('v8').setFlagsFromString('--random-seed=1'); // for later contexts
  replace(Math, 'random', () => () => Number(draw() >> 11n) / 2 ** 53);
  steadyCrypto();
  steadyTimers();
  steadyClocks();
  steadyDate();
  require('module').syncBuiltinESMExports();
}

module.exports = begin;
