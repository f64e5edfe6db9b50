function* fibonacci() { let [a, b] = [0, 1]; for (;;) { yield a; [a, b] = [b, a + b]; } }
function* take(n, source) { let i = 0; for (const value of source) { if (i++ === n) return 'rest'; yield value; } }
console.log([...take(12, fibonacci())], Math.max(...take(5, fibonacci())));
function* talk() { const name = yield 'who?'; try { yield `hello ${name}`; } finally { console.log('cleaned'); } }
const it = talk();
console.log(it.next(), it.next('Ada'), it.return(7), it.next());
const tree = { v: 1, kids: [{ v: 2, kids: [{ v: 3, kids: [] }] }, { v: 4, kids: [] }], *[Symbol.iterator]() { yield* walk(this); } };
function* walk(node) { yield node.v; for (const kid of node.kids) yield* walk(kid); }
console.log([...tree], Array.from(tree, (v) => v * 2), Object.fromEntries(Object.entries({ a: 1 }).map(([k, v]) => [v, k])));
