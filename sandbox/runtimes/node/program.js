'use strict';
// The program itself: whether it compiles, what kind it is, and how it is started.

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

// That what we use is experimental is no news for the program.
function hushWarnings() {
  process.emitWarning = () => {};
}

function hearWarnings() {
  process.emitWarning = warn;
}

// What node 20 and later take for an ES module: by its name, or since it is none of CommonJS.
function compileModule(job) {
  hushWarnings();
  try {
    void new vm.SourceTextModule(job.code, { identifier: 'file://' + WORK + job.name });
  } finally {
    hearWarnings();
  }
}

// What node's loader gives to a script; and what import() in one asks, for which an older node has no word.
const SCRIPT_NAMES = ['exports', 'require', 'module', '__filename', '__dirname'];
const IMPORTS = vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER;

function compileScript(job) {
  const source = job.code.startsWith('#!') ? job.code.replace(/^#!.*/, '') : job.code;
  job.script = vm.compileFunction(source, SCRIPT_NAMES,
    { filename: WORK + job.name, importModuleDynamically: IMPORTS });
}

// Of two ways to fail the one that was meant.
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

// The error of a program that is none; node itself will find and print it once more.
function syntaxError(job) {
  const kind = path.extname(job.name);
  if (kind !== '.js' && kind !== '.cjs' && kind !== '.mjs') return null; // node decides what that is
  try {
    if (kind === '.mjs') compileModule(job);
    else compileScript(job);
    return null;
  } catch (error) {
    return kind === '.js' ? moduleError(job, error) : error;
  }
}

// Each way once, so that node has said by then what it has to say of them.
async function warmUp() {
  try {
    compileModule({ code: 'export default 1;', name: 'main.mjs' });
  } catch {
    // a node without modules in vm
  }
  hushWarnings();
  try {
    await vm.compileFunction('return import("path")', [], { importModuleDynamically: IMPORTS })();
  } catch {
    // a node that has no word for it
  }
  hearWarnings();
}

// ---- a plain script --------------------------------------------------------------------------

let main = null; // the module of such a one, until it has run
let ahead = null; // one of the name that most programs have, made before a job comes

// What compiles as CommonJS, and is one by its name, is where we have put it: nobody needs to look for it.
function isPlain(job) {
  return job.script !== undefined && !job.files.some((file) => file.path.endsWith('package.json'));
}

// What node's own loader makes of a main module that it has found, with the marks that the worker's
// has, and the require() that this loader makes for it.
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

// What is to be called, bound: the program can find the tick that calls it, and call that again.
function callOf(job, { made, require }) {
  if (!IMPORTS) return compile.bind(made, job.code, made.filename);
  return job.script.bind(made.exports, made.exports, require, made, made.filename, made.path);
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

// A module that threw is none that was loaded.
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

// Node has told modules from scripts by their text since 20.19 and 22.7; Debian 12's is older.
const [major, minor] = process.versions.node.split('.').map(Number);
const TELLS_MODULES = major > 22 || (major === 22 && minor >= 7) || (major === 20 && minor >= 19);

// An older one is told by a package.json, which it reads as it starts and never again.
function startModule(job) {
  const name = WORK + 'package.json';
  const fd = openSync(name, 'wx');
  writeSync(fd, '{"type":"module"}');
  closeSync(fd);
  runMain(WORK + job.name);
  unlinkSync(name);
}

function wantsTelling(job) {
  return job.isModule && !TELLS_MODULES && !existsSync(WORK + 'package.json');
}

// Returns the function that starts the program.
function starterOf(job) {
  if (isPlain(job)) {
    const plain = mainOf(job);
    return startScript.bind(null, plain, callOf(job, plain));
  }
  return wantsTelling(job)
    ? () => process.nextTick(startModule, job)
    : () => process.nextTick(runMain, WORK + job.name);
}

function forgetModules() {
  delete process.mainModule;
  delete Module.prototype.require.main;
  for (const memory of [Module._cache, Module._pathCache])
    for (const name of Object.keys(memory)) delete memory[name];
}

module.exports = { syntaxError, starterOf, dropMain, makeMainAhead, forgetModules, warmUp };
