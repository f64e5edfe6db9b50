'use strict';
// What node is started with to become a zygote (ced_node.c), and what each of its workers is.
//
// The zygote warms up and rehearses.  A worker is forked from it before its job comes, and used for one
// program: it reads one job from the socket at descriptor 3 (job.js) and makes the process look as if it
// had been started with the program.  Node itself then runs the program from its own loop, so no stack has
// a frame of ours.  What this script reports adds detail; the daemon sees the process's end from outside.

const { process } = globalThis; // the program may replace it
const v8 = require('v8');
const { Console } = require('console');
const { Writable } = require('stream');
const describe = require('./failure.js');
const files = require('./files.js');
const words = require('./job.js');
const program = require('./program.js');
const rehearse = require('./rehearsal.js');
const samples = require('./samples.js');

const { WORK, makeFileAhead, writeFiles } = files;
const { READY, FAILED, ERROR, DONE, plainJson, tell, tellBegun, linger, readJob } = words;

const DETERMINISTIC = 1;
const DISPLAY = 4;
const SESSION = 8;
const REPORT_MAX = 64 << 10;
const USUAL_NAME = 'main.js';
const PID = 2; // of a worker in its namespace
const LIBRARIES = ['assert', 'crypto', 'events', 'fs/promises', 'os', 'path', 'perf_hooks', 'querystring', 'readline', 'stream',
  'stream/promises', 'string_decoder', 'timers/promises', 'url', 'util', 'zlib'];

const zygote = { exports: {} };
process.dlopen(zygote, `${__dirname}/ced-node.so`);
const { begin, scratch, serve, learned } = zygote.exports;
begin();

const { emit, reallyExit: leave } = process;
const reallyExit = leave.bind(process);
const listenerCount = process.listenerCount.bind(process); // the program may replace these
const listeners = process.listeners.bind(process);

let job = null;

// ---- the process -----------------------------------------------------------------------------

// Without /proc node cannot tell its size, so this gives the largest size that it had.
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

// Makes the process look as if node had been started without arguments.
function bareProcess() {
  process.memoryUsage = memoryUsage;
  process.argv.length = 1;
  process.execArgv.length = 0;
}

function setProcess() {
  for (const entry of job.env) {
    const sign = entry.indexOf('=');
    process.env[entry.slice(0, sign)] = entry.slice(sign + 1);
  }
  process.argv.push(WORK + job.name, ...job.args);
}

// ---- reports ---------------------------------------------------------------------------------

let reported = false;
let failing = false; // an uncaught error is about to end the process

function report(error, syntax) {
  if (reported) return;
  reported = true;
  try {
    const body = plainJson(describe(job, error, syntax));
    if (body.length <= REPORT_MAX) tell(ERROR, 0, body);
  } catch {
    // the error cannot be described, or the program has closed the socket
  }
}

function fail(error) {
  tell(FAILED, 0, Buffer.from(String(error.message)).toString('latin1'));
  linger();
  reallyExit(1);
}

function onUncaught(error) {
  program.dropMain();
  if (listenerCount('uncaughtException') > 0) return;
  if (process.hasUncaughtExceptionCaptureCallback()) return;
  failing = true;
  report(error, false);
}

// Whether node is about to exit, no listener of the program is still to run, and no error to be printed.
function isOver() {
  const isOurs = process.emit === emit && process.reallyExit === leave;
  const isWatched = listeners('uncaughtExceptionMonitor').includes(onUncaught);
  return isOurs && isWatched && process._exiting && !failing && listenerCount('exit') < 2;
}

function watchEnd() {
  process.on('uncaughtExceptionMonitor', onUncaught);
  // If the program listens for the exit too, or node is still to print an error, this is not the
  // end: the daemon waits for the process's end.
  process.on('exit', () => {
    if (!isOver()) return;
    try {
      tell(DONE, process.exitCode || 0); // a listener that was removed may have changed it
      learned();
      linger();
    } catch {
      // the program has closed the socket
    }
  });
}

// ---- the job ---------------------------------------------------------------------------------

// Loads what many programs use, once for all workers.  Nothing here may take a random number or keep one.
function loadLibraries() {
  for (const name of LIBRARIES) require(name);
  void ['b', 'a'].sort((a, b) => a.localeCompare(b));
  void (new Intl.NumberFormat('en').format(1234.5) + new Date(0).toLocaleString('en') + 'x'.normalize('NFD'));
  require('crypto').createHash('sha256').update('').digest('hex');
  require('zlib').gunzipSync(require('zlib').gzipSync(''));
  new TextDecoder().decode(new TextEncoder().encode(JSON.stringify(structuredClone({ list: [1] }))));
  const aborter = new AbortController();
  aborter.signal.addEventListener('abort', () => {});
  aborter.abort();
  AbortSignal.timeout(1);
  return require('timers/promises').setTimeout(1);
}

// Uses what a first program would wait for: streams, formatting, modules.
async function warmUp() {
  const sink = new Writable({ write(chunk, encoding, done) { done(); } });
  const aside = new Console(sink, sink);
  aside.log('%s %d %o', 'text', 1, { list: [1, 'two', null], map: new Map([[1, 2]]) });
  aside.error(1);
  // A stream makes its pipe non-blocking, and a program that then writes to descriptor 1 itself gets
  // EAGAIN when the pipe is full.  In plain node that begins with the first use of process.stdout, here
  // it would begin before the program does.
  for (const stream of [process.stdout, process.stderr]) {
    stream.write('');
    stream._handle.setBlocking?.(true);
  }
  await loadLibraries();
  return program.warmUp();
}

// The job is the first cell of a session, whose end is not that of the process.
function runCells() {
  process.removeAllListeners('uncaughtExceptionMonitor');
  process.removeAllListeners('exit');
  const parts = { describe, display: require('./display.js'), files, program, tools: require('./tools.js'), words };
  require('./cells.js')(job, parts, setProcess, fail);
}

// Does everything for a job, up to its first line.
function perform(fd) {
  job = readJob(fd);
  if (job.flags & SESSION) {
    runCells();
    return;
  }
  try {
    writeFiles(job);
    setProcess();
  } catch (error) {
    fail(error);
  }
  const failure = program.syntaxError(job);
  const display = job.flags & DISPLAY ? require('./display.js') : null;
  const start = program.starterOf(job, display);
  display?.start();
  if (job.flags & DETERMINISTIC) require('./steady.js')();
  if (job.tools) require('./tools.js').offer(job.tools);
  program.forgetModules();
  if (failure) report(failure, true);
  else tellBegun();
  start();
}

// Makes what most jobs need, before one comes.
function prepare() {
  try {
    makeFileAhead(USUAL_NAME);
    program.makeMainAhead(USUAL_NAME);
  } catch {
    // it has as many files open as it may
  }
}

// What a process of its own would have: a number, and random numbers that no other worker has.  V8 takes the
// seed at the first Math.random(), which no rehearsal calls; threads of the program begin without one, so
// each finds its own.  A new context takes its seed from the engine's numbers, of which each object in a set
// uses one.
function beBorn(seed) {
  Object.defineProperty(process, 'pid', { value: PID, writable: false, enumerable: true, configurable: true });
  process.chdir(WORK);
  v8.setFlagsFromString(`--random-seed=${(seed >>> 2) + 1}`);
  Math.random();
  v8.setFlagsFromString('--random-seed=0');
  const used = new Set();
  for (let more = seed & 255; more > 0; more--) used.add({});
}

function live() {
  bareProcess();
  program.forgetModules();
  process.chdir('/');
  scratch(false);
  const seed = serve(`node ${process.versions.node}`, samples.length); // returns in each learner and worker
  const begun = process.cpuUsage();
  beBorn(Math.max(seed, 0));
  prepare();
  tell(READY, begun.user + begun.system);
  if (seed < 0) perform(rehearse.jobOf(samples[-1 - seed], USUAL_NAME));
  else perform();
}

scratch(true);
process.chdir(WORK);
watchEnd();
warmUp().then(() => rehearse(perform, live));
