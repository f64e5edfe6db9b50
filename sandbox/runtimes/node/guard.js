'use strict';
// The second enforcement of a policy for programs of node: what a program really loads, reads and
// calls is held against the rules that came with its job (as ../python/audit.c does for Python).
//
// What a rule names is replaced by something that asks first who wants it: node itself may, the
// program may not.  The first breach is told to the daemon and ends the run.  Without rules nothing of
// this is there.  A rule about a text alone (a shape, a comment) is the policy's inspector's.

const Module = require('module');

// What node keeps, whatever the program does to these later.
const { apply, construct, ownKeys, getOwnPropertyDescriptor: propertyOf } = Reflect;
const { defineProperty } = Object;
const stringify = JSON.stringify;

// ---- rules: one a line, `rule TAB list TAB word ...` (../python/rules.h) ---------------------------

function readRules(text) {
  const rules = new Map();
  for (const line of text.split('\n')) {
    const [rule, list, ...words] = line.split('\t');
    if (rule) rules.set(list || rule, { rule, words: new Set(words) });
  }
  return rules;
}

function hasPath(words, path) {
  if (words.has(path)) return true;
  for (let at = path.length; at > 0; at = path.lastIndexOf('.', at - 1))
    if (words.has(`${path.slice(0, at)}.*`)) return true;
  return false;
}

// ---- who wants it? ---------------------------------------------------------------------------------

// Parts of node that call whatever they are given, and so speak for nobody.
const CARRIERS = /^node:(events|util|async_hooks|timers|internal\/(timers|util|event_target|async_hooks|process\/(task_queues|promises)))/;

let ours = null; // how stacks are prepared while we look
let theirs; // how the program wants them

function places(error, sites) {
  return sites.map((site) => [site.getFileName() || '', site.getLineNumber() || 0, site.getColumnNumber() || 0]);
}

function stackAbove(inner) {
  const limit = Error.stackTraceLimit;
  const holder = {};
  ours = places;
  Error.stackTraceLimit = 16;
  Error.captureStackTrace(holder, inner);
  const found = holder.stack;
  ours = null;
  Error.stackTraceLimit = limit;
  return Array.isArray(found) ? found : [];
}

// Null where node wants it for itself; else the place in the program, as far as there is one.
function wanter(inner) {
  const stack = stackAbove(inner).filter(([file]) => !file.startsWith(__dirname));
  const first = stack.find(([file]) => file);
  if (first && first[0].startsWith('node:') && !CARRIERS.test(first[0])) return null;
  return stack.find(([file]) => file && !file.startsWith('node:')) || ['', 0, 0];
}

// ---- the guard -------------------------------------------------------------------------------------

function guard(text, deny) {
  const rules = readRules(text);

  // `deny` does not come back.
  const stop = (rule, what, [file, line, column] = ['', 0, 0]) =>
    deny({ rule, line, column, text: String(what).slice(0, 120), file: file.replace(/^file:\/\//, '') });

  function ask(rule, what, inner) {
    const place = wanter(inner);
    if (place) stop(rule, what, place);
  }

  // A function that only node may call.
  function closed(real, rule, what) {
    const trap = (how) => function trapped(target, ...rest) {
      ask(rule, what, trapped);
      return how(target, ...rest);
    };
    return new Proxy(real, { apply: trap(apply), construct: trap(construct) });
  }

  // A property that only node may read or set.
  function closeProperty(owner, name, rule, what) {
    const property = propertyOf(owner, name);
    if (!property || !property.configurable) return;
    let value = property.value;
    const read = property.get || (() => value);
    const write = property.set || ((next) => (value = next));
    defineProperty(owner, name, {
      configurable: false,
      enumerable: property.enumerable,
      get: function get() {
        ask(rule, what, get);
        return apply(read, this, []);
      },
      set: function set(next) {
        ask(rule, what, set);
        apply(write, this, [next]);
      },
    });
  }

  function closeFunction(owner, name, rule, what) {
    const property = propertyOf(owner, name);
    if (!property || !property.configurable || typeof property.value !== 'function') return;
    defineProperty(owner, name, { ...property, value: closed(property.value, rule, what) });
  }

  // ---- modules ----

  function importRule(name) {
    const dangerous = rules.get('javascript.imports.dangerous');
    const allowed = rules.get('javascript.imports');
    if (dangerous && hasPath(dangerous.words, name)) return dangerous.rule;
    return allowed && !hasPath(allowed.words, name) ? allowed.rule : null;
  }

  function judgeImport(name) {
    const rule = importRule(name);
    if (rule) stop(rule, name, wanter(judgeImport) || undefined);
  }

  function closeLoader() {
    const load = Module._load;
    Module._load = function (request, parent, isMain) {
      if (!isMain) judgeImport(request);
      return apply(load, this, [request, parent, isMain]);
    };
    const names = rules.get('javascript.names') || rules.get('javascript.imports');
    if (names) closeFunction(Module.prototype, '_compile', names.rule, '_compile');
  }

  function closeExports(exported, rule, name, deep) {
    for (const key of ownKeys(exported)) {
      const value = propertyOf(exported, key).value;
      if (typeof value === 'function') closeFunction(exported, key, rule, name);
      else if (deep && value && typeof value === 'object') closeExports(value, rule, name, false);
    }
  }

  // import() asks no loader of ours: what it would give is closed itself.  `domain` changes node merely
  // by being loaded, and reaches nothing.
  function closeModules() {
    const warn = process.emitWarning;
    process.emitWarning = () => {};
    for (const name of Module.builtinModules) {
      const rule = importRule(name);
      if (!rule || name.startsWith('_') || name === 'domain' || name === 'process') continue;
      try {
        closeExports(require(name), rule, name, true);
      } catch {
        // a part of node that cannot be had here
      }
    }
    Module.syncBuiltinESMExports();
    process.emitWarning = warn;
  }

  // ---- names, attributes, parts of process ----

  function closeNames() {
    const names = rules.get('javascript.names');
    if (!names) return;
    for (const name of names.words) closeProperty(globalThis, name, names.rule, name);
    const kinds = [() => {}, async () => {}, function* () {}, async function* () {}];
    if (names.words.has('Function'))
      for (const kind of kinds) closeProperty(Object.getPrototypeOf(kind), 'constructor', names.rule, 'constructor');
  }

  function closeAttributes() {
    const attributes = rules.get('javascript.attributes');
    if (!attributes) return;
    for (const name of attributes.words) {
      if (name === 'constructor' || name === 'prepareStackTrace') continue;
      closeProperty(Object.prototype, name, attributes.rule, name);
      closeFunction(Object, name, attributes.rule, name);
    }
  }

  // A program that could say how stacks are written could hide itself.
  function closeStacks() {
    const attributes = rules.get('javascript.attributes');
    const isClosed = attributes && attributes.words.has('prepareStackTrace');
    defineProperty(Error, 'prepareStackTrace', {
      configurable: false,
      get: () => ours || theirs,
      set: function set(value) {
        if (isClosed) ask(attributes.rule, 'prepareStackTrace', set);
        theirs = value;
      },
    });
  }

  function closeProcess() {
    const parts = rules.get('javascript.process');
    if (!parts) return;
    for (let owner = process; owner && owner !== Object.prototype; owner = Object.getPrototypeOf(owner))
      for (const name of ownKeys(owner)) {
        if (typeof name !== 'string' || parts.words.has(name) || name === 'constructor') continue;
        closeFunction(owner, name, parts.rule, name);
      }
    closeProperty(process, 'mainModule', parts.rule, 'mainModule');
  }

  // `imports` are what the program, an ES module, says itself that it imports.
  return function close(imports, speaksOfImports) {
    for (const name of imports) judgeImport(name);
    if (speaksOfImports && (rules.has('javascript.imports') || rules.has('javascript.imports.dangerous')))
      closeModules();
    closeProcess();
    closeNames();
    closeAttributes();
    closeStacks();
    closeLoader();
  };
}

module.exports = guard;
