const { Readable, Writable } = require('stream');
let made = 0, waits = 0, got = 0;
const source = new Readable({ highWaterMark: 64, read() { this.push(made < 100 ? Buffer.alloc(32, made++) : null); } });
const sink = new Writable({ highWaterMark: 128, write(chunk, _, next) { got += chunk.length; setImmediate(next); } });
source.on('data', (chunk) => {
  if (sink.write(chunk)) return;
  waits++;
  source.pause();
  sink.once('drain', () => source.resume());
});
source.on('end', () => sink.end());
sink.on('finish', () => console.log(made, got, waits > 5, sink.writableFinished));
