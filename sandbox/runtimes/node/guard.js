'use strict';
// The second enforcement of a policy for programs of node: what a program really loads, reads and
// calls is held against the rules that came with its job (as ../python/audit.c does for Python).
//
// What a rule names is replaced by something that asks first who wants it: node itself may, the
// program may not.  The first breach is told to the daemon and ends the run.  Without rules nothing of
// this is there.  A rule about a text alone (a shape, a comment) is the policy's inspector's.

const Module = require('module');

// What node keeps, whatever the program does to these later.
const { apply, construct, getPrototypeOf: prototypeOf, ownKeys, getOwnPropertyDescriptor: propertyOf } = Reflect;
const { defineProperty } = Object;
const reflected = { ...Object.getOwnPropertyDescriptors(Reflect) };
for (const key of ownKeys(reflected)) reflected[key] = reflected[key].value;
const world = globalThis;
const errorText = Error.prototype.toString;

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

// Parts of process that do more than tell about it; others are for node itself, which calls them
// with nothing on the stack.
const REACHING = ['abort', 'binding', '_linkedBinding', 'chdir', 'dlopen', 'execve', 'getBuiltinModule', 'initgroups',
  'kill', '_kill', 'loadEnvFile', 'openStdin', 'send', 'setegid', 'seteuid', 'setgid', 'setgroups', 'setuid', 'umask',
  '_debugEnd', '_debugProcess', 'setSourceMapsEnabled', 'setUncaughtExceptionCaptureCallback'];

// Modules that give what is everywhere, or that change node merely by being loaded and reach nothing.
const LEFT = new Set(['console', 'constants', 'domain', 'path/posix', 'path/win32', 'process', 'punycode', 'stream/web',
  'sys', 'util/types']);

// ---- who wants it? ---------------------------------------------------------------------------------

// Parts of node that call whatever they are given, and so speak for nobody.
const CARRIERS = /^node:(events|util|async_hooks|timers|internal\/(timers|util|event_target|async_hooks|process\/(task_queues|promises)))/;

let ours = null; // how stacks are prepared while we look
let theirs; // how the program wants them

function places(error, sites) {
  return sites.map((site) => [site.getFileName() || '', site.getLineNumber() || 0, site.getColumnNumber() || 0]);
}

// As node writes it, without frames of ours.
function plainly(error, sites) {
  const lines = sites.filter((site) => !(site.getFileName() || '').startsWith(__dirname)).map((site) => `\n    at ${site}`);
  return errorText.call(error) + lines.join('');
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

  function closeExports(exported, rule, name) {
    for (const key of ownKeys(exported)) closeFunction(exported, key, rule, name);
  }

  // import() asks no loader of ours: what it would give is closed itself.
  function closeModules() {
    const warn = process.emitWarning;
    process.emitWarning = () => {};
    for (const name of Module.builtinModules) {
      const rule = importRule(name);
      if (!rule || name.startsWith('_') || LEFT.has(name)) continue;
      try {
        closeExports(require(name), rule, name);
      } catch {
        // a part of node that cannot be had here
      }
    }
    Module.syncBuiltinESMExports();
    process.emitWarning = warn;
  }

  // ---- names, attributes, parts of process ----

  // The global object by one of its names: nobody but node takes anything from it.
  function closeWorld(name, rule) {
    const traps = {};
    for (const trap of ['get', 'set', 'has', 'deleteProperty', 'ownKeys', 'getOwnPropertyDescriptor', 'defineProperty'])
      traps[trap] = function trapped(...args) {
        ask(rule, name, trapped);
        return reflected[trap](...args);
      };
    defineProperty(world, name, { ...propertyOf(world, name), value: new Proxy(world, traps) });
  }

  function closeNames() {
    const names = rules.get('javascript.names');
    if (!names) return;
    // To name them is no harm, so what they are stays to be seen; what they do is closed.
    for (const name of names.words) {
      closeFunction(world, name, names.rule, name);
      const property = propertyOf(world, name);
      if (property && property.value === world) closeWorld(name, names.rule);
      else if (property && property.value && typeof property.value === 'object')
        closeExports(property.value, names.rule, name);
      else if (property && property.get) closeProperty(world, name, names.rule, name);
    }
    const kinds = [() => {}, async () => {}, function* () {}, async function* () {}];
    if (names.words.has('Function'))
      for (const kind of kinds) closeFunction(prototypeOf(kind), 'constructor', names.rule, 'constructor');
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
      get: () => ours || theirs || plainly,
      set: function set(value) {
        if (isClosed) ask(attributes.rule, 'prepareStackTrace', set);
        theirs = value;
      },
    });
  }

  function closeProcess() {
    const parts = rules.get('javascript.process');
    if (!parts) return;
    for (const name of REACHING)
      if (!parts.words.has(name)) closeFunction(process, name, parts.rule, name);
  }

  // `imports` are what the program, an ES module, says itself that it imports.
  return function close(imports, speaksOfImports) {
    closeStacks(); // first: the rest asks by it
    for (const name of imports) judgeImport(name);
    if (speaksOfImports && (rules.has('javascript.imports') || rules.has('javascript.imports.dangerous')))
      closeModules();
    closeProcess();
    closeNames();
    closeAttributes();
    closeLoader();
  };
}

module.exports = guard;
