'use strict';
// The program: whether it compiles, whether it is a script or a module, and how it is started.

const { closeSync, existsSync, openSync, unlinkSync, writeSync } = require('fs');
const path = require('path');
const vm = require('vm');
const Module = require('module');
const { WORK } = require('./files.js');

const { runMain } = Module;
const { _compile: compile } = Module.prototype;
const worker = require.main;

// ---- does it compile? ------------------------------------------------------------------------

const warn = process.emitWarning;

// The program must not see warnings about experimental features that we use.
function hushWarnings() {
  process.emitWarning = () => {};
}

function hearWarnings() {
  process.emitWarning = warn;
}

// Node 20 and later take a program for an ES module by its name, or if it does not compile as CommonJS.
function compileModule(job) {
  hushWarnings();
  try {
    void new vm.SourceTextModule(job.code, { identifier: 'file://' + WORK + job.name });
  } finally {
    hearWarnings();
  }
}

// The parameters that node's loader gives to a script, and the loader for its import().  An older node
// has no name for the latter.
const SCRIPT_NAMES = ['exports', 'require', 'module', '__filename', '__dirname'];
const IMPORTS = vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER;

function sourceOf(job) {
  return job.code.startsWith('#!') ? job.code.replace(/^#!.*/, '') : job.code;
}

function compileScript(job) {
  job.script = vm.compileFunction(sourceOf(job), SCRIPT_NAMES,
    { filename: WORK + job.name, importModuleDynamically: IMPORTS });
}

// Of the errors as script and as module, the one that fits the program.
const MODULES_ONLY = /import|export|await is only valid/;

function moduleError(job, error) {
  try {
    compileModule(job);
    job.isModule = true;
    return null;
  } catch (other) {
    return MODULES_ONLY.test(error.message) ? other : error;
  }
}

// The syntax error of a program, or null.  Node itself will find and print it again.
function syntaxError(job) {
  const kind = path.extname(job.name);
  if (kind !== '.js' && kind !== '.cjs' && kind !== '.mjs') return null; // node decides
  try {
    if (kind === '.mjs') compileModule(job);
    else compileScript(job);
    return null;
  } catch (error) {
    return kind === '.js' ? moduleError(job, error) : error;
  }
}

// Compiles one of each kind, so that node has printed its warnings before.
async function warmUp() {
  try {
    compileModule({ code: 'export default 1;', name: 'main.mjs' });
  } catch {
    // this node has no modules in vm
  }
  hushWarnings();
  try {
    await vm.compileFunction('return import("path")', [], { importModuleDynamically: IMPORTS })();
  } catch {
    // this node does not know IMPORTS
  }
  hearWarnings();
}

// ---- a plain script --------------------------------------------------------------------------

let main = null; // the module of a plain script, until it has run
let ahead = null; // a main module with the usual name, made before the job comes

// A program that compiles as CommonJS and has its name lies where we have put it, so no loader has to
// look for it.
function isPlain(job) {
  return job.script !== undefined && !job.files.some((file) => file.path.endsWith('package.json'));
}

// Makes a main module as node's own loader does, with the symbols of the worker's own module and the
// require() of the loader.
function makeMain(name) {
  const made = new Module(WORK + name, null);
  made.filename = made.id;
  made.id = '.';
  made.paths = Module._nodeModulePaths(made.path);
  for (const mark of Object.getOwnPropertySymbols(worker))
    if (typeof worker[mark] === 'boolean') made[mark] = worker[mark];
  const { exports } = made;
  made._compile('module.exports = require;', made.filename);
  const require = made.exports;
  made.exports = exports;
  require.main = made;
  const executing = Object.getOwnPropertySymbols(made).find((mark) => mark.description === 'kIsExecuting');
  return { made, require, executing };
}

function makeMainAhead(name) {
  ahead = makeMain(name);
}

function mainOf(job) {
  return ahead?.made.filename === WORK + job.name ? ahead : makeMain(job.name);
}

// The call of the program, bound: the program can find the tick that makes it, and call that again.
function callOf(job, { made, require }) {
  if (!IMPORTS) return compile.bind(made, job.code, made.filename);
  return job.script.bind(made.exports, made.exports, require, made, made.filename, made.path);
}

// The call of a program whose last value is displayed, or null (display.js).
function showingCallOf(job, { made, require }, display) {
  const options = { filename: made.filename, importModuleDynamically: IMPORTS };
  const values = [made.exports, require, made, made.filename, made.path];
  const names = Object.fromEntries(SCRIPT_NAMES.map((name, i) => [name, values[i]]));
  return IMPORTS ? display.callOf(sourceOf(job), options, names) : null;
}

function startScript({ made, executing }, call) {
  main = made;
  Module._cache[made.filename] = made;
  process.mainModule = made;
  Module.prototype.require.main = made;
  if (executing) made[executing] = true;
  process.nextTick(call);
  process.nextTick(finishMain, executing);
}

// A module that threw is not a loaded one.
function dropMain() {
  if (main) delete Module._cache[main.filename];
  main = null;
}

function finishMain(executing) {
  if (main) main.loaded = true;
  if (main && executing) main[executing] = false;
  main = null;
}

// ---- its start -------------------------------------------------------------------------------

// Since 20.19 and 22.7 node finds out by the text whether it is a module; Debian 12's node is older.
const [major, minor] = process.versions.node.split('.').map(Number);
const FINDS_MODULES = major > 22 || (major === 22 && minor >= 7) || (major === 20 && minor >= 19);

// An older node needs a package.json, which it reads once.
function startModule(job) {
  const name = WORK + 'package.json';
  const fd = openSync(name, 'wx');
  writeSync(fd, '{"type":"module"}');
  closeSync(fd);
  runMain(WORK + job.name);
  unlinkSync(name);
}

function needsPackage(job) {
  return job.isModule && !FINDS_MODULES && !existsSync(WORK + 'package.json');
}

// Returns the function that starts the program.  `display`: null, or the module that shows its last value.
function starterOf(job, display) {
  if (isPlain(job)) {
    const plain = mainOf(job);
    job.showing = display && showingCallOf(job, plain, display);
    return startScript.bind(null, plain, job.showing ?? callOf(job, plain));
  }
  return needsPackage(job)
    ? () => process.nextTick(startModule, job)
    : () => process.nextTick(runMain, WORK + job.name);
}

function forgetModules() {
  delete process.mainModule;
  delete Module.prototype.require.main;
  for (const memory of [Module._cache, Module._pathCache])
    for (const name of Object.keys(memory)) delete memory[name];
}

module.exports = { sourceOf, makeMain, syntaxError, starterOf, dropMain, makeMainAhead, forgetModules, warmUp };
