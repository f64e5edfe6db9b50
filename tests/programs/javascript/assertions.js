const assert = require('assert');
for (const attempt of [() => assert.strictEqual(1, 2), () => assert.deepStrictEqual({ a: 1, b: [1, 2] }, { a: 1, b: [1, 3] }), () => assert(0), () => assert.throws(() => {}), () => assert.match('abc', /x/), () => assert.ok(false, 'own words')])
  try { attempt(); } catch (error) { console.log(error.code, error.generatedMessage, error.message); }
assert.deepEqual([1, '2'], [1, 2]); assert.notDeepStrictEqual([1], ['1']); assert.throws(() => { throw new TypeError('x'); }, TypeError);
assert.rejects(Promise.reject(new Error('r')), /r/).then(() => console.log('all held'));
