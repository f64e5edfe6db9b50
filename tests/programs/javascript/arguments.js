// args: --count 3 'two words' grüße
console.log(process.argv.slice(2).join('|'), process.argv[1], __filename, __dirname);
const { parseArgs } = require('util');
console.log(parseArgs({ options: { count: { type: 'string', short: 'c' } }, allowPositionals: true }));
