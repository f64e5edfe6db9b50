const fs = require('fs');
const out = fs.createWriteStream('numbers.txt');
for (let i = 0; i < 20000; i++) out.write(`${i}\n`);
out.end(() => {
  let lines = 0, bytes = 0;
  fs.createReadStream('numbers.txt', { highWaterMark: 4096 })
    .on('data', (chunk) => { bytes += chunk.length; for (const byte of chunk) lines += byte === 10; })
    .on('end', () => {
      console.log(lines, bytes, out.bytesWritten);
      fs.createReadStream('numbers.txt', { start: 10, end: 19, encoding: 'utf8' }).on('data', (piece) => console.log(JSON.stringify(piece)));
    });
});
