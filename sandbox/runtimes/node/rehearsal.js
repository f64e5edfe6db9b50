'use strict';
// Node compiles a function when it is first called, and learns what it is called with from a few
// calls more.  So the whole way of a job is gone some times before one comes, with programs of our own.

const { closeSync, openSync, rmdirSync, unlinkSync, writeSync } = require('fs');
const path = require('path');
const v8 = require('v8');
const vm = require('vm');
const { WORK, makeFileAhead } = require('./files.js');
const { speakTo, writeJob } = require('./job.js');
const { forgetModules, makeMainAhead } = require('./program.js');

const SCRIPT = `'use strict';
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
const MODULE = `import path from 'path';
console.log(path.sep);
`;

// Each of another name, since node remembers the paths that it has looked for.
const NAMES = ['module.mjs', 'a.js', 'b.js', 'c.js', 'd.js', 'e.js', 'f.js', 'g.js'];

// A file that holds such a job, to be read as one is from the socket.
function jobFile(name) {
  const isScript = name.endsWith('.js');
  const place = `../tmp/rehearsal-${name}/${name}`;
  const fd = openSync('/tmp/rehearsal', 'wx+');
  unlinkSync('/tmp/rehearsal');
  writeSync(fd, writeJob(isScript ? `// ${name}\n${SCRIPT}` : MODULE, place), 0, 'latin1');
  if (isScript) {
    makeFileAhead(place);
    makeMainAhead(place);
  }
  return { fd, file: WORK + place };
}

// What a rehearsal prints and tells goes nowhere; gives what puts things right again.
function hideAway(stdout) {
  const real = stdout._handle;
  const nowhere = new real.constructor(0);
  const line = openSync('/dev/null', 'r+');
  nowhere.open(openSync('/dev/null', 'w'));
  stdout._handle = nowhere;
  speakTo(line);
  return () => {
    stdout._handle = real;
    nowhere.close();
    closeSync(line);
    speakTo();
  };
}

// Whether it may open what a rehearsal wants besides: a job can do with less.
function hasRoom() {
  const opened = [];
  try {
    while (opened.length < 6) opened.push(openSync('/dev/null', 'r'));
  } catch {
    // it has as many as it may
  }
  opened.forEach((fd) => closeSync(fd));
  return opened.length === 6;
}

// V8 compiles what has become warm in batches of so many bytes, and the job's might be the call that
// fills one.  A V8 that is not known might not know the word, and would say so on the program's stderr.
const v8Major = parseInt(process.versions.v8, 10);
const HAS_BATCHES = v8Major >= 9 && v8Major <= 13;
const USUAL_BATCH = 4096;

function compileInBatchesOf(size) {
  if (HAS_BATCHES) v8.setFlagsFromString(`--baseline-batch-compilation-threshold=${size}`);
}

// So that no collection is due while the job runs.  Young objects have two halves that change places
// each time: after the second time it is memory in use that is used again.
function collectGarbage() {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc');
  v8.setFlagsFromString('--no-expose-gc');
  collect({ type: 'minor' });
  collect({ type: 'minor' });
}

function endRehearsals(prepare, live) {
  prepare();
  compileInBatchesOf(USUAL_BATCH);
  collectGarbage();
  live();
}

// One after the other.
function rehearse(left, perform, then) {
  const name = left.shift();
  if (!name) return then();
  const comeBack = hideAway(process.stdout);
  const { fd, file } = jobFile(name);
  perform(fd);
  closeSync(fd);
  // Node says itself when a program is over and nothing is left to wait for.
  process.once('beforeExit', () => {
    process._exiting = true;
    process.emit('exit', 0);
    process._exiting = false;
    comeBack();
    unlinkSync(file);
    rmdirSync(path.dirname(file));
    forgetModules();
    setImmediate(setImmediate, rehearse, left, perform, then); // what was closed is gone by then
  });
}

// `perform` goes a job's way; when all are over, `prepare` and then `live` are called.
module.exports = (perform, prepare, live) => {
  if (process.stdout._handle && hasRoom()) {
    compileInBatchesOf(1);
    setImmediate(rehearse, NAMES, perform, () => endRehearsals(prepare, live));
  } else {
    prepare();
    setImmediate(setImmediate, live);
  }
};
