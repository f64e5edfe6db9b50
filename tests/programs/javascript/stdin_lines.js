// stdin: first\nsecond line\n\nlast without end
const lines = require('readline').createInterface({ input: process.stdin });
let count = 0;
lines.on('line', (line) => console.log(++count, JSON.stringify(line)));
lines.on('close', () => console.log('closed after', count));
