'use strict';
// A worker of node: started and warm before its job comes, used for one program and gone.
//
// It is the process's first script.  It reads one job from the socket at descriptor 3 (the words
// are those of proto/leasemsg.h), makes the process look as if it had been started with the
// program, and leaves: what runs the program is node itself, from its own loop, so there is no
// frame of ours in any stack.  What it tells adds detail; the process's end is seen from outside.

const fs = require('fs');
const path = require('path');
const v8 = require('v8');
const vm = require('vm');
const Module = require('module');
const { Console } = require('console');
const { Writable } = require('stream');
const guard = require('./guard.js');

const JOB = 3;
const HEAD_LEN = 16;
const MAGIC = 0x43454401;
const START = 1, READY = 2, FAILED = 3, BEGUN = 4, ERROR = 5, DONE = 6, DENIED = 7;
const STDIN_INLINE = 2;
const DETERMINISTIC = 1;
const WORK = '/work/';
const REPORT_MAX = 64 << 10;
const FRAMES_MAX = 50;

const { closeSync, mkdirSync, openSync, readSync, unlinkSync, writeSync } = fs;
const { runMain } = Module;
const { _compile: compile } = Module.prototype; // before rules close it
const { emit, reallyExit: leave } = process;
const reallyExit = leave.bind(process);
const stringify = JSON.stringify;
const { fromCharCode } = String;
const codeAt = Function.prototype.call.bind(String.prototype.charCodeAt);

// ---- the job socket --------------------------------------------------------------------------

// The program may have changed every prototype by now: so what goes out is put together of plain texts.
const HEX = '0123456789abcdef';

function littleEndian(value) {
  return fromCharCode(value & 255, (value >> 8) & 255, (value >> 16) & 255, (value >> 24) & 255);
}

// JSON in ASCII: a character is a byte.
function plain(json) {
  let text = '';
  for (let i = 0; i < json.length; i++) {
    const code = codeAt(json, i);
    text += code < 128 ? json[i] : `\\u${HEX[code >> 12]}${HEX[(code >> 8) & 15]}${HEX[(code >> 4) & 15]}${HEX[code & 15]}`;
  }
  return text;
}

let line = JOB; // where the words go: in a rehearsal nowhere

function tell(kind, code, body = '') {
  const all = littleEndian(MAGIC) + littleEndian(kind) + littleEndian(body.length) + littleEndian(code) + body;
  let rest = all;
  while (rest.length) {
    const sent = writeSync(line, rest, null, 'latin1');
    let left = '';
    for (let i = sent; i < rest.length; i++) left += rest[i];
    rest = left;
  }
}

const room = Buffer.alloc(64 << 10); // a job seldom takes more, so one read does

// Reads until `bytes` holds `want` bytes, of which it has `have`; gives what it holds then.
function readOn(bytes, have, want) {
  while (have < want) {
    const got = readSync(JOB, bytes, have, bytes.length - have, null);
    if (got === 0) reallyExit(1); // the daemon has gone
    have += got;
  }
  return have;
}

function readJob() {
  const have = readOn(room, 0, HEAD_LEN);
  if (room.readUInt32LE(0) !== MAGIC || room.readUInt32LE(4) !== START) reallyExit(1);
  const len = HEAD_LEN + room.readUInt32LE(8);
  const bytes = len <= room.length ? room : Buffer.allocUnsafeSlow(len);
  if (bytes !== room) room.copy(bytes, 0, 0, have);
  readOn(bytes, have, len);
  return parse(bytes.subarray(HEAD_LEN, len));
}

// Stays until everything here is killed.
const byte = Buffer.alloc(1);

function linger() {
  try {
    while (readSync(line, byte, 0, 1, null) > 0);
  } catch {
    // the program has closed it
  }
}

// ---- the job ---------------------------------------------------------------------------------

function parse(body) {
  let at = 32;
  const take = (len) => body.subarray(at, (at += len));
  const number = () => take(4).readUInt32LE(0);
  const long = () => Number(take(8).readBigUInt64LE(0));
  const [codeLen, nameLen, args, env, files, stdin, flags, rulesLen] =
    [0, 4, 8, 12, 16, 20, 24, 28].map((place) => body.readUInt32LE(place));
  const job = { code: take(codeLen), name: take(nameLen).toString(), args: [], env: [], files: [] };
  job.flags = flags;
  job.rules = take(rulesLen).toString();
  for (let i = 0; i < args; i++) job.args.push(take(number()).toString());
  for (let i = 0; i < env; i++) job.env.push(take(number()).toString());
  for (let i = 0; i < files; i++) {
    const pathLen = number(), mode = number(), dataLen = long();
    job.files.push({ path: take(pathLen).toString(), mode, data: take(dataLen) });
  }
  if (stdin === STDIN_INLINE) job.stdin = take(long());
  if (at !== body.length) reallyExit(1);
  return job;
}

function writeFile(name, data, mode) {
  const folder = path.dirname(name);
  if (folder !== '.') mkdirSync(WORK + folder, { recursive: true, mode: 0o755 });
  const fd = openSync(WORK + name, 'wx', mode || 0o644);
  for (let at = 0; at < data.length;) at += writeSync(fd, data, at);
  if (mode) fs.fchmodSync(fd, mode & 0o777);
  closeSync(fd);
}

// The lowest free number is the next that is opened: a file without a name becomes stdin.
function takeStdin(data) {
  const name = '/tmp/stdin';
  closeSync(0);
  openSync(name, 'wx+', 0o600);
  unlinkSync(name);
  for (let at = 0; at < data.length;) at += writeSync(0, data, at, data.length - at, at);
}

function writeFiles(job) {
  writeFile(job.name, job.code);
  for (const file of job.files) writeFile(file.path, file.data, file.mode);
  if (job.stdin) takeStdin(job.stdin);
}

// Without /proc node cannot say how large it is: the largest that it was stands for that.
function memoryUsage() {
  const heap = v8.getHeapStatistics();
  return {
    rss: memoryUsage.rss(),
    heapTotal: heap.total_heap_size,
    heapUsed: heap.used_heap_size,
    external: heap.external_memory,
    arrayBuffers: 0,
  };
}
memoryUsage.rss = () => process.resourceUsage().maxRSS * 1024;

function setProcess(job) {
  process.memoryUsage = memoryUsage;
  delete process.env.UV_USE_IO_URING;
  for (const entry of job.env) {
    const sign = entry.indexOf('=');
    process.env[entry.slice(0, sign)] = entry.slice(sign + 1);
  }
  process.argv.splice(1, process.argv.length, WORK + job.name, ...job.args);
  process.execArgv.length = 0;
}

// ---- errors ----------------------------------------------------------------------------------

// "at name (file:line:column)", "at file:line:column", or "file:line" above the text of an error.
const FRAME = /^\s*at (?:(.*?) \()?(?:file:\/\/)?((?:\/|node:)[^()]*?):(\d+):(\d+)\)?$/;
const HEAD = /^(?:file:\/\/)?(\/work\/.*):(\d+)$/;

function framesOf(stack) {
  const frames = [];
  for (const line of stack.split('\n')) {
    const found = FRAME.exec(line);
    if (found && !found[2].startsWith(__dirname) && !found[2].startsWith('node:internal/'))
      frames.push({ file: found[2], line: +found[3], column: +found[4], name: found[1] || '' });
  }
  return frames;
}

function lineOf(job, number) {
  return job.code.toString().split('\n', number)[number - 1] || '';
}

// Where an error stands: its head says so when it did not compile, else its first frame of ours.
function placeOf(job, stack, frames) {
  const head = HEAD.exec(stack.split('\n', 1)[0]);
  const main = WORK + job.name;
  if (head) {
    const marks = stack.split('\n', 3)[2] || '';
    const column = /^\s*\^+\s*$/.test(marks) ? marks.indexOf('^') + 1 : 0;
    return { line: +head[2], column, text: head[1] === main ? lineOf(job, +head[2]) : '' };
  }
  const frame = frames.find((one) => one.file.startsWith(WORK));
  if (!frame) return { line: 0, column: 0, text: '' };
  return {
    line: frame.line,
    column: frame.column,
    text: frame.file === main ? lineOf(job, frame.line) : '',
  };
}

function cut(text, most) {
  return text.length > most ? text.slice(0, most) + '...' : text;
}

function describe(job, error, syntax) {
  const isError = error instanceof Error || (error && typeof error.stack === 'string');
  const stack = isError ? String(error.stack) : '';
  const all = syntax ? [] : framesOf(stack);
  const place = placeOf(job, stack, all);
  const frames = all.slice(0, FRAMES_MAX).reverse();
  return {
    type: isError ? cut(String(error.name || 'Error'), 256) : typeof error,
    message: cut(String(isError ? error.message : error), 8192),
    line: place.line,
    column: place.column,
    frames: frames.map((one) => ({ file: cut(one.file, 256), line: one.line, name: cut(one.name, 256) })),
    text: cut(place.text, 8192),
    syntax,
  };
}

let reported = false;
let failing = false; // an error that nobody catches is about to end it

function report(job, error, syntax) {
  if (reported) return;
  reported = true;
  try {
    const body = plain(stringify(describe(job, error, syntax)));
    if (body.length <= REPORT_MAX) tell(ERROR, 0, body);
  } catch {
    // an error that cannot be described, or a socket that the program has closed
  }
}

// ---- does it compile? ------------------------------------------------------------------------

// What node 20 and later take for an ES module: by its name, or since it is none of CommonJS.
function compileModule(job) {
  const warn = process.emitWarning;
  process.emitWarning = () => {}; // that this class is experimental is no news for the program
  try {
    const made = new vm.SourceTextModule(job.code.toString(), { identifier: 'file://' + WORK + job.name });
    job.imports = made.dependencySpecifiers;
  } finally {
    process.emitWarning = warn;
  }
}

function compileScript(job) {
  const source = job.code.toString().replace(/^#!.*/, '');
  vm.compileFunction(source, ['exports', 'require', 'module', '__filename', '__dirname'],
    { filename: WORK + job.name });
  job.compiled = true;
}

// The error of a program that is none; node itself will find and print it once more.
function syntaxError(job) {
  if (!/\.[mc]?js$/.test(job.name)) return null; // node decides what that is
  try {
    if (job.name.endsWith('.mjs')) compileModule(job);
    else compileScript(job);
    return null;
  } catch (error) {
    return job.name.endsWith('.js') ? moduleError(job, error) : error;
  }
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

// ---- rules -----------------------------------------------------------------------------------

// Says what was broken, and waits to be ended.  Does not come back.
function deny(breach) {
  try {
    tell(DENIED, 0, plain(stringify(breach)));
    linger();
  } catch {
    // the program has closed the socket
  }
  for (;;) reallyExit(1);
}

function holdToRules(job) {
  const speaksOfImports = [job.code, ...job.files.map((file) => file.data)].some((text) => text.includes('import'));
  guard(job.rules, deny)(job.imports || [], speaksOfImports);
}

// ---- a life ----------------------------------------------------------------------------------

let job = null;
let main = null; // the module of a plain script, until it has run

// A module that threw is none that was loaded.
function dropMain() {
  if (main) delete Module._cache[main.filename];
  main = null;
}

function finishMain() {
  if (main) main.loaded = true;
  main = null;
}

// Whether node is about to end it, and nobody else is still to be heard or asked.
function isOver() {
  const isOurs = process.emit === emit && process.reallyExit === leave;
  return isOurs && process._exiting && !failing && process.listenerCount('exit') < 2;
}

function watchEnd() {
  process.on('uncaughtExceptionMonitor', (error) => {
    dropMain();
    if (process.listenerCount('uncaughtException') > 0) return;
    if (process.hasUncaughtExceptionCaptureCallback()) return;
    failing = true;
    report(job, error, false);
  });
  // Where the program listens for its end too, or node is still to print an error, it is not over
  // yet: its process's end will tell.
  process.on('exit', () => {
    if (!isOver()) return;
    try {
      tell(DONE, process.exitCode || 0); // a listener that has gone may have changed it
      linger();
    } catch {
      // the program has closed the socket
    }
  });
}

// What a first program would pay for: streams, formatting, modules.
function warmUp() {
  const sink = new Writable({ write(chunk, encoding, done) { done(); } });
  const aside = new Console(sink, sink);
  aside.log('%s %d %o', 'text', 1, { list: [1, 'two', null], map: new Map([[1, 2]]) });
  aside.error(1);
  process.stdout.write('');
  void process.stderr;
  try {
    compileModule({ code: Buffer.from('export default 1;'), name: 'main.mjs' });
  } catch {
    // a node without modules in vm
  }
}

function forgetModules() {
  delete process.mainModule;
  delete Module.prototype.require.main;
  for (const memory of [Module._cache, Module._pathCache])
    for (const name of Object.keys(memory)) delete memory[name];
}

// Node has told modules from scripts by their text since 20.19 and 22.7; Debian 12's is older.
const [major, minor] = process.versions.node.split('.').map(Number);
const TELLS_MODULES = major > 22 || (major === 22 && minor >= 7) || (major === 20 && minor >= 19);

// An older one is told by a package.json, which it reads as it starts and never again.
function runModule(job) {
  const name = WORK + 'package.json';
  const fd = openSync(name, 'wx');
  writeSync(fd, '{"type":"module"}');
  closeSync(fd);
  runMain(WORK + job.name);
  unlinkSync(name);
}

function wantsTelling(job) {
  return job.isModule && !TELLS_MODULES && !fs.existsSync(WORK + 'package.json');
}

// What compiles as CommonJS, and is one by its name, is where we have put it: nobody needs to look for it.
function isPlain(job) {
  const isScript = job.compiled && /\.c?js$/.test(job.name);
  return isScript && !job.files.some((file) => file.path.endsWith('package.json'));
}

// What node's own loader makes of a main module that it has found, with the marks that ours has.
function mainModule(job) {
  const made = new Module(path.resolve(WORK, job.name), null);
  made.filename = made.id;
  made.id = '.';
  made.paths = Module._nodeModulePaths(made.path);
  for (const mark of Object.getOwnPropertySymbols(module))
    if (typeof module[mark] === 'boolean') made[mark] = module[mark];
  return made;
}

// The program can find the tick that runs it, and call that again: so what is to be compiled is bound.
function runScript(job, made) {
  main = made;
  Module._cache[main.filename] = main;
  process.mainModule = main;
  Module.prototype.require.main = main;
  process.nextTick(compile.bind(main, job.code.toString(), main.filename));
  process.nextTick(finishMain);
}

// All the way of a job, up to its first line.
function perform() {
  try {
    writeFiles(job);
    setProcess(job);
  } catch (error) {
    tell(FAILED, 0, Buffer.from(String(error.message)).toString('latin1'));
    linger();
    reallyExit(1);
  }
  const failure = syntaxError(job);
  // Rules may close what these ask, and what makes it steady.
  const isTold = wantsTelling(job);
  const made = isPlain(job) ? mainModule(job) : null;
  if (job.flags & DETERMINISTIC) require('./steady.js')();
  if (job.rules) holdToRules(job);
  if (failure) report(job, failure, true);
  else tell(BEGUN, 0);
  forgetModules();
  if (made) runScript(job, made);
  else process.nextTick(isTold ? runModule : runMain, isTold ? job : WORK + job.name);
}

function live() {
  const used = process.cpuUsage();
  tell(READY, used.user + used.system);
  job = readJob();
  perform();
}

// ---- rehearsals ------------------------------------------------------------------------------

// Node compiles a function when it is first called, and learns what it is called with from a few
// calls more.  So the whole way is gone some times before a job comes, with programs of our own.
const REHEARSAL = `'use strict';
const fs = require('fs');
const path = require('path');
const own = fs.readFileSync(__filename, 'utf8');
const words = own.split(/\\s+/).map((word) => word.length);
const total = words.reduce((sum, len) => sum + len, 0);
const later = async () => JSON.stringify(JSON.parse(\`{"total": \${total}}\`));
console.log(path.basename(__filename), total);
console.log(String(words.length));
later().then((text) => console.log('%s', text, { words: new Map([[1, [total]]]) }));
`;
// Each of another name, since node remembers the paths that it has looked for.  From ten on it is
// slower again: then the job's is the call at which V8 compiles anew.
const REHEARSALS = ['module.mjs', 'a.js', 'b.js', 'c.js', 'd.js', 'e.js', 'f.js', 'g.js'];

function rehearsalJob(name) {
  const text = name.endsWith('.mjs') ? "import path from 'path';\nconsole.log(path.sep);\n" : `// ${name}\n${REHEARSAL}`;
  const body = Buffer.alloc(32 + text.length + name.length);
  body.writeUInt32LE(text.length, 0);
  body.writeUInt32LE(name.length, 4);
  body.write(text + name, 32);
  return parse(body);
}

// What a rehearsal prints and tells goes nowhere; gives what puts things right again.
function hideAway(stdout) {
  const real = stdout._handle;
  const nowhere = new real.constructor(0);
  nowhere.open(openSync('/dev/null', 'w'));
  stdout._handle = nowhere;
  line = openSync('/dev/null', 'r+');
  return () => {
    stdout._handle = real;
    nowhere.close();
    closeSync(line);
    line = JOB;
  };
}

// Whether it may open what a rehearsal wants besides: a job can do with less.
function hasRoom() {
  const opened = [];
  try {
    while (opened.length < 4) opened.push(openSync('/dev/null', 'r'));
  } catch {
    // it has as many as it may
  }
  opened.forEach((fd) => closeSync(fd));
  return opened.length === 4;
}

function rehearse(left) {
  const name = left.shift();
  if (!name) return live();
  const comeBack = hideAway(process.stdout);
  job = rehearsalJob(`../tmp/rehearsal-${name}/${name}`);
  const file = WORK + job.name;
  perform();
  // Node says itself when a program is over and nothing is left to wait for.
  process.once('beforeExit', () => {
    process._exiting = true;
    process.emit('exit', 0);
    process._exiting = false;
    comeBack();
    unlinkSync(file);
    fs.rmdirSync(path.dirname(file));
    forgetModules();
    setImmediate(setImmediate, rehearse, left); // what was closed is gone by then
  });
}

warmUp();
watchEnd();
if (process.stdout._handle && hasRoom()) setImmediate(rehearse, REHEARSALS);
else setImmediate(setImmediate, live);
