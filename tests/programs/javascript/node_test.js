const { test, describe, it } = require('node:test');
const assert = require('node:assert');
const results = [];
test('adds', (t) => { assert.equal(1 + 1, 2); results.push(t.name); });
test('nested', async (t) => { await t.test('inner', () => results.push('inner')); });
describe('suite', () => { it('works', () => results.push('works')); it.skip('is skipped', () => {}); });
process.on('exit', () => process.stderr.write(results.sort().join() + '\n'));
process.stdout.write = () => true;
