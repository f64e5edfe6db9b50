const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function* ticks(n) { try { for (let i = 0; i < n; i++) { await sleep(1); yield i; } } finally { console.log('stopped'); } }
(async () => {
  for await (const i of ticks(10)) { if (i > 2) break; console.log(i); }
  for await (const value of [Promise.resolve('a'), 'b']) console.log(value);
  const source = { async *[Symbol.asyncIterator]() { yield 1; throw new Error('mid stream'); } };
  try { for await (const v of source) console.log(v); } catch (error) { console.log(error.message); }
})();
