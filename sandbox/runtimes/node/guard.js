'use strict';
// The second enforcement of a policy for programs of node: what a program really loads, reads and
// calls is held against the rules that came with its job (as ../python/audit.c does for Python).
//
// What a rule names is replaced by something that asks first who wants it: node itself may, the
// program may not.  The first breach is told to the daemon and ends the run.  Without rules nothing of
// this is there.  A rule about a text alone (a shape, a comment) is the policy's inspector's.

const fs = require('fs');
const Module = require('module');
const net = require('net');
const { ReadStream } = fs; // made when it is first asked for

// What node keeps, whatever the program does to these later.  While the program runs nothing here may
// be asked of a prototype: no method by a dot, no for-of, no spread, no taking apart of lists, no
// object that inherits (a handler without a trap would be lent one by Object.prototype).
const { apply, construct, get: getProperty, getPrototypeOf: prototypeOf, ownKeys, getOwnPropertyDescriptor: propertyOf, set: setProperty,
  setPrototypeOf } = Reflect;
const { defineProperty } = Object;
const Proxied = Proxy;
const reflected = { ...Object.getOwnPropertyDescriptors(Reflect) };
for (const key of ownKeys(reflected)) reflected[key] = reflected[key].value;
const world = globalThis;
const Errors = Error;
const { captureStackTrace } = Error;
const method = Function.prototype.bind.bind(Function.prototype.call); // f.call(self, ...) as f'(self, ...)
const errorText = method(Error.prototype.toString);
const execute = method(RegExp.prototype.exec);
const entry = method(Map.prototype.get);
const contains = method(Set.prototype.has);
const startsWith = method(String.prototype.startsWith);
const lastIndexOf = method(String.prototype.lastIndexOf);
const slice = method(String.prototype.slice);

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
  if (contains(words, path)) return true;
  for (let at = path.length; at > 0; at = lastIndexOf(path, '.', at - 1))
    if (contains(words, `${slice(path, 0, at)}.*`)) return true;
  return false;
}

// Parts of process that do more than tell about it; others are for node itself, which calls them
// with nothing on the stack.
const REACHING = ['abort', 'binding', '_linkedBinding', 'chdir', 'dlopen', 'execve', 'getBuiltinModule', 'initgroups',
  'kill', '_kill', 'loadEnvFile', 'openStdin', 'send', 'setegid', 'seteuid', 'setgid', 'setgroups', 'setuid', 'umask',
  '_debugEnd', '_debugProcess', 'setSourceMapsEnabled', 'setUncaughtExceptionCaptureCallback'];

// Modules that have no name without "node:" and are not in node's list of its own.
const WITH_SCHEME = ['node:sea', 'node:sqlite', 'node:test', 'node:test/reporters'];

// Modules that give what is everywhere, or that change node merely by being loaded and reach nothing.
const LEFT = new Set(['console', 'constants', 'domain', 'path/posix', 'path/win32', 'process', 'punycode', 'stream/web',
  'sys', 'util/types']);

// ---- who wants it? ---------------------------------------------------------------------------------

// Parts of node that use others for themselves and call nothing that a program gives them.  All
// others (streams, timers, events, assert, url ...) may speak for the program.
const OWN = /^node:(?:fs$|net$|tty$|internal\/(?:bootstrap|child_process|deps|fs\/(?!cp)|main|modules|net|source_map|tty|worker))/;
const OWN_DEPS = /^node:internal\/(?:deps|modules)\//; // these take even what is everywhere
const NOBODY = /^$/; // no part of node makes code of text: where one seems to, it reads what a program gave it
// Streams of files are in stdin's hands and so in the program's: they read what is open, and open nothing.
const OWN_OPENING = /^node:(?!internal\/fs\/streams)(?:fs$|internal\/(?:bootstrap|fs\/(?!cp)|main|modules|source_map|worker))/;

// What a thing leads to that nobody can make any more but everybody has (stdin, stdout, an agent).
const BY_THINGS = { __proto__: null, net: ['Socket', 'connect'], http: ['Agent', 'createConnection', 'createSocket', 'addRequest'],
  https: ['Agent', 'createConnection'] };

let noted = null; // the place that is looked for, while we look
let isLooking = false;
let theirs; // how the program wants stacks

let siteFile, siteLine, siteColumn;
{
  const kept = Error.prepareStackTrace;
  Error.prepareStackTrace = (error, sites) => prototypeOf(sites[0]);
  const sites = new Error().stack;
  Error.prepareStackTrace = kept;
  siteFile = method(sites.getFileName);
  siteLine = method(sites.getLineNumber);
  siteColumn = method(sites.getColumnNumber);
}

// The first place that has a file, and the first of the program's.
function note(error, sites) {
  let first = null, place = null;
  for (let i = 0; i < sites.length && !place; i++) {
    const file = siteFile(sites[i]) || '';
    if (!file || startsWith(file, __dirname)) continue;
    first ??= file;
    if (!startsWith(file, 'node:'))
      place = { __proto__: null, file, line: siteLine(sites[i]) || 0, column: siteColumn(sites[i]) || 0 };
  }
  noted = { __proto__: null, first, place };
}

// As node writes it, without frames of ours.
function plainly(error, sites) {
  let text = errorText(error);
  for (let i = 0; i < sites.length; i++)
    if (!startsWith(siteFile(sites[i]) || '', __dirname)) text += `\n    at ${sites[i]}`;
  return text;
}

// Null where a part of node that `own` fits wants it for itself; else the place in the program, as far
// as there is one.
function wanter(inner, own) {
  const limit = Errors.stackTraceLimit;
  const holder = { __proto__: null };
  setProperty(Errors, 'stackTraceLimit', 16);
  noted = null;
  isLooking = true;
  captureStackTrace(holder, inner);
  void holder.stack;
  isLooking = false;
  setProperty(Errors, 'stackTraceLimit', limit);
  if (noted && noted.first && execute(own, noted.first)) return null;
  return (noted && noted.place) || { __proto__: null, file: '', line: 0, column: 0 };
}

// ---- the guard -------------------------------------------------------------------------------------

function guard(text, deny) {
  const rules = readRules(text);
  const main = process.argv[1];
  let closing = false; // no line of the program has run: what is wanted now is wanted by us

  // `deny` does not come back.
  function stop(rule, what, { file, line, column }) {
    const path = startsWith(file, 'file://') ? slice(file, 7) : file;
    deny({ __proto__: null, rule, line, column, text: slice(`${what}`, 0, 120), file: path });
  }

  function ask(rule, what, inner, own) {
    if (closing) return;
    const place = wanter(inner, own);
    if (place) stop(rule, what, place);
  }

  // A function that only node may call.  Who prints a proxy asks its target how: so that is not the real
  // one, which is nowhere to be had.  What hangs on it (util.promisify.custom) is closed when it is read.
  function closed(real, rule, what, own) {
    const target = propertyOf(real, 'prototype') ? function () {} : () => {};
    defineProperty(target, 'name', { __proto__: null, value: real.name });
    return new Proxied(target, {
      __proto__: null,
      get: function get(_, key) {
        const part = key !== 'prototype' && propertyOf(real, key)?.value;
        return typeof part === 'function' ? closed(part, rule, what, own) : getProperty(real, key);
      },
      apply: function trapped(_, self, args) {
        ask(rule, what, trapped, own);
        return apply(real, self, args);
      },
      construct: function trapped(_, args, made) {
        ask(rule, what, trapped, own);
        return construct(real, args, made);
      },
    });
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
        ask(rule, what, get, OWN_DEPS);
        return apply(read, this, []);
      },
      set: function set(next) {
        ask(rule, what, set, OWN_DEPS);
        apply(write, this, [next]);
      },
    });
  }

  // A class is closed by the way that leads back to it from what it makes, too.
  function closeFunction(owner, name, rule, what, own) {
    const property = propertyOf(owner, name);
    if (!property || !property.configurable || typeof property.value !== 'function') return;
    const real = property.value;
    const value = closed(real, rule, what, own);
    const made = propertyOf(real, 'prototype')?.value;
    const back = made && propertyOf(made, 'constructor');
    defineProperty(owner, name, { ...property, value });
    if (back && back.configurable && back.value === real) defineProperty(made, 'constructor', { ...back, value });
  }

  // ---- modules ----

  function importRule(name) {
    const dangerous = entry(rules, 'javascript.imports.dangerous');
    const allowed = entry(rules, 'javascript.imports');
    if (dangerous && hasPath(dangerous.words, name)) return dangerous.rule;
    return allowed && !hasPath(allowed.words, name) ? allowed.rule : null;
  }

  function judgeImport(name) {
    const rule = importRule(name);
    if (rule) stop(rule, name, wanter(judgeImport, NOBODY));
  }

  // Another way to a module is asked as require() is; what it is given may be no text yet.
  function closeWay(owner, name) {
    const real = owner[name];
    if (typeof real !== 'function') return;
    owner[name] = function (...args) {
      const request = `${args[0]}`;
      if (request !== main) judgeImport(request);
      args[0] = request;
      return apply(real, this, args);
    };
  }

  function closeLoader() {
    const rule = importRule('module');
    if (rule) closeFunction(Module.prototype, 'load', rule, 'load', OWN);
    closeWay(Module, '_load');
    closeWay(process, 'getBuiltinModule');
    const names = rules.get('javascript.names') || rules.get('javascript.imports');
    if (names) closeFunction(Module.prototype, '_compile', names.rule, '_compile', OWN);
  }

  // What is made only when it is asked for would be had past us.
  function settle(owner, name) {
    const { get, configurable, enumerable } = propertyOf(owner, name);
    const value = get && configurable && apply(get, owner, []);
    if (typeof value === 'function') defineProperty(owner, name, { value, writable: true, configurable, enumerable });
  }

  function closeExports(exported, rule, name, own) {
    const [kind, ...ways] = BY_THINGS[name] || [];
    for (const way of ways) closeFunction(exported[kind].prototype, way, rule, name, own);
    for (const key of ownKeys(exported)) {
      settle(exported, key);
      closeFunction(exported, key, rule, name, name === 'fs' && key === 'open' ? OWN_OPENING : own);
    }
  }

  // In a program that can load nothing stdin and stdout are all that leads to files and networks: so
  // stdin, which is made when it is asked for, is given no more than it needs of them.
  function closeStreams() {
    const rule = importRule('fs');
    const ruleOfNet = importRule('net');
    if (ruleOfNet) closeFunction(net.Socket.prototype, 'connect', ruleOfNet, 'net', OWN);
    if (!rule) return;
    const parts = { __proto__: null };
    for (const name of ['open', 'read', 'close'])
      parts[name] = closed(fs[name], rule, 'fs', name === 'open' ? OWN_OPENING : OWN);
    const make = function (_, options) {
      return construct(ReadStream, [null, { __proto__: null, ...options, fs: parts }]);
    };
    fs.ReadStream = closed(make, rule, 'fs', OWN);
    closeFunction(ReadStream.prototype, 'constructor', rule, 'fs', OWN);
  }

  // import() asks no loader of ours: what it would give is closed itself.  First all are there, since
  // those that take parts of others as they are loaded shall have them open.
  function closeModules() {
    const warn = process.emitWarning;
    const found = [];
    process.emitWarning = () => {};
    for (const name of [...Module.builtinModules, ...WITH_SCHEME]) {
      const rule = importRule(name);
      if (!rule || name.startsWith('_') || LEFT.has(name)) continue;
      try {
        found.push([require(name), rule, name]);
      } catch {
        // a part of node that cannot be had here
      }
    }
    for (const [exported, rule, name] of found) closeExports(exported, rule, name, OWN);
    Module.syncBuiltinESMExports();
    process.emitWarning = warn;
  }

  // What makes modules and loads them: every module leads to it, where nothing else can be had, too.
  function closeMaking(part) {
    const rule = importRule('module');
    if (rule) closeExports(part, rule, 'module', OWN);
  }

  // ---- names, attributes, parts of process ----

  // The global object by one of its names: nobody but node takes anything from it.
  function closeWorld(name, rule) {
    const traps = { __proto__: null };
    for (const trap of ['get', 'set', 'has', 'deleteProperty', 'ownKeys', 'getOwnPropertyDescriptor', 'defineProperty'])
      traps[trap] = function trapped(...args) {
        ask(rule, name, trapped, OWN_DEPS);
        args[0] = world;
        return apply(reflected[trap], null, args);
      };
    const target = { __proto__: prototypeOf(world) }; // not the world itself: see closed()
    defineProperty(world, name, { ...propertyOf(world, name), value: new Proxied(target, traps) });
  }

  // What makes functions of text.  The other kinds inherit from the first.
  function closeMakers(rule) {
    const kinds = [async () => {}, function* () {}, async function* () {}];
    closeFunction(world, 'Function', rule, 'Function', NOBODY);
    for (const kind of kinds) {
      setPrototypeOf(prototypeOf(kind).constructor, world.Function);
      closeFunction(prototypeOf(kind), 'constructor', rule, 'constructor', NOBODY);
    }
  }

  function closeNames() {
    const names = rules.get('javascript.names');
    if (!names) return;
    if (names.words.has('Function')) closeMakers(names.rule);
    // To name them is no harm, so what they are stays to be seen; what they do is closed.
    for (const name of names.words) {
      if (name !== 'Function') closeFunction(world, name, names.rule, name, name === 'eval' ? NOBODY : OWN_DEPS);
      const property = propertyOf(world, name);
      if (property && property.value === world) closeWorld(name, names.rule);
      else if (property && property.value && typeof property.value === 'object')
        closeExports(property.value, names.rule, name, OWN_DEPS);
      else if (property && property.get) closeProperty(world, name, names.rule, name);
    }
  }

  function closeAttributes() {
    const attributes = rules.get('javascript.attributes');
    if (!attributes) return;
    for (const name of attributes.words) {
      if (name === 'constructor' || name === 'prepareStackTrace') continue;
      closeProperty(Object.prototype, name, attributes.rule, name);
      closeFunction(Object, name, attributes.rule, name, OWN_DEPS);
    }
  }

  // A program that could say how stacks are written could hide itself: so Error stays what it is.
  function closeStacks() {
    const attributes = rules.get('javascript.attributes');
    const isClosed = attributes && attributes.words.has('prepareStackTrace');
    defineProperty(world, 'Error', { ...propertyOf(world, 'Error'), writable: false, configurable: false });
    defineProperty(Error, 'prepareStackTrace', {
      configurable: false,
      get: () => (isLooking ? note : theirs || plainly),
      set: function set(value) {
        if (isClosed) ask(attributes.rule, 'prepareStackTrace', set, OWN_DEPS);
        theirs = value;
      },
    });
  }

  function closeProcess() {
    const parts = rules.get('javascript.process');
    if (!parts) return;
    for (const name of REACHING)
      if (!parts.words.has(name)) closeFunction(process, name, parts.rule, name, OWN);
    if (!parts.words.has('report')) closeProperty(process, 'report', parts.rule, 'report');
  }

  // Whether a program whose text has no import() can still come to one.
  function isTextClosed() {
    return rules.get('javascript.names')?.words.has('eval') && importRule('fs') && importRule('fs/promises');
  }

  // `imports` are what the program, an ES module, says itself that it imports.
  return function close(imports, speaksOfImports) {
    closeStacks(); // first: the rest asks by it
    closing = true;
    for (const name of imports) judgeImport(name);
    if ((rules.has('javascript.imports') || rules.has('javascript.imports.dangerous')) && (speaksOfImports || !isTextClosed()))
      closeModules();
    else {
      closeStreams();
      closeMaking(Module);
    }
    closeMaking(Module._extensions);
    closeProcess();
    closeNames();
    closeAttributes();
    closeLoader();
    closing = false;
  };
}

module.exports = guard;
