'use strict';
// Programs like those that come.  A learner runs each of them in the zygote's beginning, and what most of
// them touch is made ahead in each worker (footprint.h).  They are not those of the benchmark.

module.exports = [
  `console.log('hello', 6 * 7);
`,
  `const text = 'the quick brown fox jumps over the lazy dog and runs away';
const counts = new Map();
for (const word of text.split(/\\s+/)) counts.set(word, (counts.get(word) ?? 0) + 1);
const top = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 3);
for (const [word, count] of top) console.log(\`\${word.padEnd(8)} \${count}\`);
console.log(JSON.stringify(Object.fromEntries(top), null, 2));
`,
  `class Shape { constructor(name) { this.name = name; } area() { return 0; } }
class Circle extends Shape { constructor(r) { super('circle'); this.r = r; } area() { return Math.PI * this.r ** 2; } }
class Square extends Shape { constructor(a) { super('square'); this.a = a; } area() { return this.a * this.a; } }
const shapes = [new Circle(2), new Square(3), new Circle(1)];
const total = shapes.reduce((sum, shape) => sum + shape.area(), 0);
console.log(total.toFixed(3), shapes.map(({ name }) => name));
try { JSON.parse('{"a": 1,}'); } catch (error) { console.log(error.name); }
console.log(new Date(86400000).toISOString(), { total, list: [1, 2, { three: 3 }] });
`,
  `const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function load(id) { await sleep(1); return { id, square: id * id }; }
(async () => {
  const rows = await Promise.all([1, 2, 3].map(load));
  console.log(JSON.stringify(rows));
  for await (const value of (async function* () { yield 1; yield 2; })()) console.log(value);
})();
`,
  `const fs = require('fs');
const path = require('path');
const rows = ['name,age,city', 'Ann,31,Oslo', 'Ben,27,Rome', 'Cid,45,Oslo'];
fs.writeFileSync('people.csv', rows.join('\\n'));
const [head, ...lines] = fs.readFileSync('people.csv', 'utf8').split('\\n').map((line) => line.split(','));
const people = lines.map((cells) => Object.fromEntries(head.map((key, i) => [key, cells[i]])));
const byCity = {};
for (const { city, age } of people) (byCity[city] ||= []).push(Number(age));
for (const [city, ages] of Object.entries(byCity))
  console.log(city, ages.length, Math.max(...ages), (ages.reduce((a, b) => a + b) / ages.length).toFixed(1));
console.log(path.extname('people.csv'), fs.existsSync('people.csv'));
`,
];
