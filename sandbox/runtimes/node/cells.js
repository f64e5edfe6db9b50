'use strict';
// Cells of a session: programs that run one after the other in one scope, that of the process.
//
// V8 evaluates a cell as the console of its debugger does: what the cell declares at its top stays and may
// be declared again, and it may await.  The debugger's interface is used within the process; no port is
// opened.  A cell is over when its last statement has run, what that awaits has come, and the tools that it
// has called have answered.  Then this thread waits for the next cell, and the daemon freezes the process.

const { process, setImmediate } = globalThis; // the program may replace them
const { ReadStream, writeSync } = require('fs');
const { Session } = require('inspector');
const Module = require('module');
const { inspect, types } = require('util');
const vm = require('vm');

// Exports of the worker's other scripts, as it has loaded them: loaded again, they would know of nothing.
let describe = null;
let display = null; // display.js
let tools = null; // tools.js
let WORK, writeCellFiles; // files.js
let ERROR, DONE, plainJson, tell, tellBegun, readCell; // job.js
let forgetModules, makeMain, sourceOf; // program.js

function take(parts) {
  ({ describe, display, tools } = parts);
  ({ WORK, writeCellFiles } = parts.files);
  ({ ERROR, DONE, plainJson, tell, tellBegun, readCell } = parts.words);
  ({ forgetModules, makeMain, sourceOf } = parts.program);
}

const REPORT_MAX = 64 << 10;
const DISPLAY = 4, NETWORK = 16; // of the job's flags
const UNSETTLED = 13; // node's exit code for an await at the top that never ends
const GROUP = 'cell'; // of objects that the debugger's interface holds for us

// The program may replace these, too.
const { defineProperty } = Object;
const { isPromise } = types;
const then = Function.prototype.call.bind(Promise.prototype.then);
const includes = Function.prototype.call.bind(String.prototype.includes);
const reallyExit = process.reallyExit.bind(process);
const on = process.on.bind(process);
const listeners = process.listeners.bind(process);
const listenerCount = process.listenerCount.bind(process);
const program = process.argv[0];

// ---- the debugger's interface ------------------------------------------------------------------

let post = null;
const held = { value: undefined };
let heldId = '';

function connect() {
  const name = '__ced_held';
  const session = new Session();
  session.connect();
  post = session.post.bind(session);
  defineProperty(globalThis, name, { value: held, configurable: true });
  post('Runtime.evaluate', { expression: name }, (error, reply) => { heldId = reply.result.objectId; });
  delete globalThis[name];
}

// The value that an answer describes.
function valueOf({ objectId, unserializableValue, value }) {
  const argument = objectId ? { objectId } : unserializableValue ? { unserializableValue } : { value };
  const functionDeclaration = 'function (value) { this.value = value; }';
  post('Runtime.callFunctionOn', { objectId: heldId, functionDeclaration, arguments: [argument] });
  const found = held.value;
  held.value = undefined;
  return found;
}

// It keeps what the cell printed, for a debugger that might come.
function forgetObjects() {
  post('Runtime.releaseObjectGroup', { objectGroup: GROUP });
  post('Runtime.discardConsoleEntries');
}

// ---- import() ----------------------------------------------------------------------------------

// Node gives an evaluated text no loader for its import(), so a function of this name takes its place.  It is
// as long as "import", so that columns stay right.
const LOAD = '$imprt';
const IMPORT = /(?<![\w$.#\\])import(?=\s*\()/g;

function isScript(text) {
  try {
    void new vm.Script(text);
    return true;
  } catch {
    return false;
  }
}

function compiles(text) {
  return isScript(text) || isScript(`(async () => {${text}\n})`);
}

// Whether these six characters are the beginning of a call, and not in a text or the name of a method: nothing
// else breaks by a # and compiles as a value.
function isCall(before, after) {
  return !compiles(`${before}im#ort${after}`) && compiles(`${before}(0)${after}`);
}

function withLoader(text) {
  if (!includes(text, 'import')) return text;
  let made = text;
  for (const { index } of text.matchAll(IMPORT)) {
    const before = made.slice(0, index), after = made.slice(index + LOAD.length);
    if (isCall(before, after)) made = before + LOAD + after;
  }
  return made;
}

function makeLoader() {
  const loader = new Module(`${WORK}cell.js`, null);
  loader.filename = loader.id;
  loader._compile('module.exports = (name, options) => import(name, options);', loader.filename);
  defineProperty(globalThis, LOAD, { value: loader.exports });
}

// ---- syntax ------------------------------------------------------------------------------------

const NO_LABEL = '$ended';

// As a script every cell may use the name `await`, as a function it may return: the debugger's interface
// permits neither.  So it is asked for a text with an error at its end, of which nothing runs.
function isForConsole(text) {
  const expression = `${text}\n;break ${NO_LABEL}`;
  let isIt = false;
  post('Runtime.evaluate', { expression, replMode: true, silent: true, objectGroup: GROUP }, (trouble, reply) => {
    isIt = !trouble && valueOf(reply.exceptionDetails.exception).message === `Undefined label '${NO_LABEL}'`;
  });
  return isIt;
}

function isSoundCell(text) {
  if (isScript(text) && !includes(text, 'await')) return true;
  return compiles(text) && isForConsole(text);
}

// ---- failures ----------------------------------------------------------------------------------

let job = null;
let turn = 0; // counts evaluations
let isBegun = false, hasFailed = false, isUnsettled = false, isEnding = false, isComing = false;
let isShowing = false; // waits for a promise, to display what it brings
const early = []; // errors that came before the cell, which they end

function begin() {
  if (!isBegun) tellBegun();
  isBegun = true;
}

function print(text) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) at += writeSync(2, bytes, at);
}

function isOurs(line) {
  if (!/^\s+at /.test(line)) return false;
  return [__dirname, 'node:inspector:', 'node:internal/timers:', 'node:internal/process/'].some((part) => line.includes(part));
}

// The last frame of an error with fields of its own has the bracket before these.
function withoutOurs(lines) {
  const kept = [];
  for (const line of lines) {
    if (!isOurs(line)) kept.push(line);
    else if (line.endsWith(' {') && kept.length) kept[kept.length - 1] += ' {';
  }
  return kept;
}

// As node prints an error that ends a program.
function textOf(error, told) {
  const mark = told.text ? `${told.text}\n${' '.repeat(Math.max(0, told.column - 1))}^\n` : '';
  const place = told.line ? `${WORK}${told.file ?? job.name}:${told.line}\n${mark}\n` : '';
  const whole = told.syntax ? error.stack : inspect(error);
  const shown = withoutOurs(whole.split('\n')).join('\n');
  return error instanceof Error ? `${place}${shown}\n` : `${place}Uncaught:\n${shown}\n`;
}

const NO_LOADER = 'import() finds no loader in a text that eval() or new Function() has compiled: call import() in the cell itself';

// What node says of an import() without a loader means nothing to a program.
function explain(error) {
  const isIt = error?.code === 'ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING' || error?.message === 'Invalid host defined options';
  if (!isIt) return;
  error.stack = error.stack.replace(error.message, NO_LOADER);
  error.message = NO_LOADER;
}

// `place`: of a syntax error; undefined: the cell threw the error.
function fail(error, place) {
  const isFirst = !hasFailed;
  hasFailed = true;
  try {
    if (!place) begin();
    explain(error);
    const told = describe(job, error, place !== undefined, place);
    const body = plainJson(told);
    if (isFirst && body.length <= REPORT_MAX) tell(ERROR, 0, body);
    print(textOf(error, told));
  } catch {
    // the error cannot be described, or the program has closed the descriptor
  }
}

function syntaxErrorOf({ message }) {
  const isImport = /^Cannot use import statement/.test(message);
  const error = new SyntaxError(isImport ? `${message}: in a cell of a session, use await import()` : message);
  error.stack = `SyntaxError: ${error.message}`;
  return error;
}

// The text that was compiled has one line more than the cell.
function placeIn({ lineNumber, columnNumber }) {
  const count = job.code.split('\n').length;
  return lineNumber < count ? { line: lineNumber + 1, column: columnNumber + 1 } : { line: count, column: 0 };
}

// An error of the compiler names the text that it has read.
function failAsTold(details) {
  const { exception, scriptId } = details;
  const error = valueOf(exception);
  const isSyntax = scriptId !== undefined && !isBegun && exception.className === 'SyntaxError';
  if (isSyntax) fail(syntaxErrorOf(error), placeIn(details));
  else fail(error);
}

// The program may handle such errors itself.
function onUncaught(error) {
  if (listenerCount('uncaughtException') > 1) return;
  if (isComing) {
    early.push(error);
    return;
  }
  fail(error);
  finish();
}

// Nothing is left that could end the cell, which still waits.
function onEmptyLoop() {
  if (isEnding) return;
  if (isShowing) { // as at the end of a run, there is nothing to display then
    finish();
    return;
  }
  isUnsettled = true;
  try {
    print('Warning: Detected unsettled top-level await\n');
  } catch {
    // the program has closed the descriptor
  }
  finish();
}

// ---- a cell ------------------------------------------------------------------------------------

function watch() {
  for (const [event, listener] of [['uncaughtException', onUncaught], ['beforeExit', onEmptyLoop]])
    if (!listeners(event).includes(listener)) on(event, listener);
}

function show(value) {
  try {
    display.showValue(value);
  } catch (error) {
    fail(error);
  }
}

// Displays the value of the last expression, as in a run: what a promise brings is shown when it comes.
// Returns whether it is still to come.
function showLast(own, told) {
  const value = valueOf(told);
  isShowing = isPromise(value);
  if (!isShowing) {
    show(value);
    return false;
  }
  const come = (showOrFail) => (found) => {
    if (own !== turn || isEnding) return;
    showOrFail(found);
    finish();
  };
  then(value, come(show), come((error) => fail(error)));
  return true;
}

// Trouble: what the cell awaits is garbage, so nothing can end it; or the process exits.
function settle(own, trouble, reply) {
  if (process._exiting || own !== turn) return;
  if (trouble) onEmptyLoop();
  else if (reply.exceptionDetails) failAsTold(reply.exceptionDetails);
  else if (job.flags & DISPLAY && !isEnding && showLast(own, reply.result)) return;
  finish();
}

// They are for the program alone, so they come last.
function givePowers() {
  display.hear(Boolean(job.flags & DISPLAY));
  if (job.tools) tools.offer(job.tools);
}

function evaluate() {
  isComing = false;
  const own = ++turn;
  const text = sourceOf(job);
  watch();
  const isSound = isSoundCell(text);
  if (isSound) {
    begin();
    givePowers();
  }
  post('Runtime.evaluate', {
    expression: `${isSound ? withLoader(text) : text}\n//# sourceURL=${WORK}${job.name}`,
    replMode: true,
    awaitPromise: true,
    objectGroup: GROUP,
  }, (trouble, reply) => settle(own, trouble, reply));
  for (const error of early.splice(0)) onUncaught(error);
}

// Connections have ended with the cell before.  The loop goes round, so that a pool of connections hears of
// it before this cell takes one out.
function evaluateSoon() {
  isComing = true;
  setImmediate(evaluate);
}

// The loop goes round once more: errors of promises that nobody handles come first, and timers that are due.
function finish() {
  if (!isEnding) setImmediate(end);
  isEnding = true;
}

function exitCode() {
  const code = hasFailed ? 1 : isUnsettled ? UNSETTLED : Number(process.exitCode) || 0;
  process.exitCode = undefined;
  return code & 255;
}

// The next cell comes over the socket over which answers come, so none may be missing.  A cell that has run
// may go on while they come, and call more tools; one that has failed may not.
function isAnswered() {
  if (hasFailed) {
    turn++;
    tools.close();
  }
  return !tools.waitForAnswers(() => setImmediate(end));
}

function takePowers() {
  tools.withdraw();
  display.hear(false);
}

// Tells the end, and waits for the next cell.
function end() {
  if (!isAnswered()) return;
  turn++;
  forgetObjects();
  try {
    takePowers();
    if (!hasFailed) begin(); // a cell that did not compile never began
    tell(DONE, job.turn * 256 + exitCode()); // as JOB_TURN_DONE() of slotmsg.h
    readNext();
  } catch {
    reallyExit(1); // the program has closed the socket
  }
  isBegun = hasFailed = isUnsettled = isEnding = isShowing = false;
  takeNext();
  if (job.flags & NETWORK) evaluateSoon();
  else evaluate();
}

// What the cell brings has no room, or an earlier cell has left something in its way.
function refuseCell({ message }) {
  tell(ERROR, 0, plainJson({ type: 'FilesError', message, line: 0, column: 0, frames: [], text: '', syntax: false }));
  tell(DONE, job.turn * 256 + 1);
}

function hasFiles() {
  try {
    writeCellFiles(job, false);
    return true;
  } catch (error) {
    refuseCell(error);
    return false;
  }
}

// The next cell that can begin.
function readNext() {
  do job = readCell();
  while (!hasFiles());
  job.isCell = true;
}

function takeNext() {
  try {
    process.argv = [program, WORK + job.name, ...job.args];
    globalThis.__filename = WORK + job.name;
    renewStdin();
  } catch {
    // the program has made them constant
  }
}

// The stream of the last cell may be at its end.
function renewStdin() {
  let stream;
  const get = () => (stream ??= new ReadStream(null, { fd: 0, autoClose: false }));
  defineProperty(process, 'stdin', { get, configurable: true, enumerable: true });
}

// ---- the first one -----------------------------------------------------------------------------

// What a plain script gets as parameters.
function defineNames() {
  const { made, require } = makeMain(job.name);
  const names = { exports: made.exports, require, module: made, __filename: made.filename, __dirname: made.path };
  for (const name of Object.keys(names))
    defineProperty(globalThis, name, { value: names[name], writable: true, configurable: true });
  process.mainModule = made;
}

// Runs all cells of a session.  `parts`: as take() has them.  `prepare` gives the process what the first one brings, `refuse` tells that a
// cell cannot begin.
module.exports = (first, parts, prepare, refuse) => {
  take(parts);
  job = first;
  job.isCell = true;
  try {
    writeCellFiles(job, true);
    prepare();
  } catch (error) {
    refuse(error);
  }
  forgetModules();
  connect();
  defineNames();
  makeLoader();
  setImmediate(evaluate);
};
