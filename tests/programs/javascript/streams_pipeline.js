const { Readable, Transform, Writable } = require('stream');
const { pipeline } = require('stream/promises');
const seen = [];
const upper = new Transform({ transform(chunk, _, next) { next(null, String(chunk).toUpperCase()); } });
const pairs = new Transform({
  objectMode: true,
  transform(chunk, _, next) { this.kept = (this.kept ?? '') + chunk; next(); },
  flush(next) { this.push(this.kept.match(/../g)); next(); },
});
pipeline(Readable.from(['ab', 'cd', 'efgh']), upper, pairs,
  new Writable({ objectMode: true, write(chunk, _, next) { seen.push(...chunk); next(); } }))
  .then(() => console.log(seen));
