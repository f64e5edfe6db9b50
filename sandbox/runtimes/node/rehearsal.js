'use strict';
// Node compiles a function at its first call, and learns its argument types from a few more calls.  So
// the zygote runs some programs of our own in the same way as a job, before a worker is forked from it.

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

// Each has another name, since node remembers the paths that it has looked for.
const NAMES = ['module.mjs', 'a.js', 'b.js', 'c.js', 'd.js', 'e.js', 'f.js', 'g.js'];

// Makes a file that holds a job, which is read as if it came from the socket.
function jobOf(code, name) {
  const fd = openSync('/tmp/rehearsal', 'wx+');
  unlinkSync('/tmp/rehearsal');
  writeSync(fd, writeJob(code, name), 0, 'latin1');
  return fd;
}

function jobFile(name) {
  const isScript = name.endsWith('.js');
  const place = `../tmp/rehearsal-${name}/${name}`;
  const fd = jobOf(isScript ? `// ${name}\n${SCRIPT}` : MODULE, place);
  if (isScript) {
    makeFileAhead(place);
    makeMainAhead(place);
  }
  return { fd, file: WORK + place };
}

// Sends output and messages of a rehearsal to /dev/null.  Returns a function that undoes this.
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

// V8 compiles functions that are called often in batches of some bytes, and a call of the job might fill
// a batch.  An unknown version of V8 might not know the flag, and would print that on the program's stderr.
const v8Major = parseInt(process.versions.v8, 10);
const HAS_BATCHES = v8Major >= 9 && v8Major <= 13;
const USUAL_BATCH = 4096;

function compileInBatchesOf(size) {
  if (HAS_BATCHES) v8.setFlagsFromString(`--baseline-batch-compilation-threshold=${size}`);
}

// Collects garbage, so that no collection is due while a job runs.  Young objects live in two halves
// that change places at each collection: after two, memory that is in use already is used again.
function collectGarbage() {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc');
  v8.setFlagsFromString('--no-expose-gc');
  collect();
  collect({ type: 'minor' });
  collect({ type: 'minor' });
}

function endRehearsals(live) {
  compileInBatchesOf(USUAL_BATCH);
  collectGarbage();
  live();
}

// Runs one rehearsal after the other.
function rehearse(left, perform, then) {
  const name = left.shift();
  if (!name) return then();
  const comeBack = hideAway(process.stdout);
  const { fd, file } = jobFile(name);
  perform(fd);
  closeSync(fd);
  // Node emits this event when a program has nothing left to wait for.
  process.once('beforeExit', () => {
    process._exiting = true;
    process.emit('exit', 0);
    process._exiting = false;
    comeBack();
    unlinkSync(file);
    rmdirSync(path.dirname(file));
    forgetModules();
    setImmediate(setImmediate, rehearse, left, perform, then); // closed handles are gone by then
  });
}

// `perform` runs a job; after the last rehearsal, `live` is called.
module.exports = (perform, live) => {
  compileInBatchesOf(1);
  setImmediate(rehearse, [...NAMES], perform, () => endRehearsals(live));
};
module.exports.jobOf = jobOf;
