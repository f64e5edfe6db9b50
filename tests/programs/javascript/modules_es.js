// entrypoint: main.mjs
import fs, { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
writeFileSync('shapes.mjs', 'export const area = (r) => Math.round(Math.PI * r * r); export default class Circle { constructor(r) { this.r = r; } get area() { return area(this.r); } }\nexport let live = 0; export const grow = () => ++live;');
writeFileSync('old.cjs', 'module.exports = { named: 1, nested: { deep: true } };');
writeFileSync('data.json', '{"a": 1}');
const shapes = await import('./shapes.mjs');
shapes.grow();
console.log(new shapes.default(2).area, shapes.live, Object.keys(shapes), shapes[Symbol.toStringTag]);
const old = await import('./old.cjs');
console.log(old.default.nested, old.named, createRequire(import.meta.url)('./data.json'), typeof fs.readFileSync, typeof require, this);
await import('./missing.mjs').catch((error) => console.log(error.code));
try { shapes.live = 5; } catch (error) { console.log(error.constructor.name); }
console.log(import.meta.url.startsWith('file:///'));
