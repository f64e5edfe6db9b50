// entrypoint: main.mjs
import { Readable, compose } from 'node:stream';
import { pipeline } from 'node:stream/promises';
async function* numbers() { for (let i = 1; i <= 5; i++) yield i; }
async function* squares(source) { for await (const n of source) yield n * n; }
let sum = 0;
await pipeline(numbers, squares, async (source) => { for await (const n of source) sum += n; });
console.log('sum', sum, await Readable.from([3, 1, 2]).map((n) => n * 10).filter((n) => n > 10).toArray());
console.log(await Readable.from(['x', 'y']).reduce((all, one) => all + one, '>'), typeof compose);
