const util = require('util');
class Box { constructor() { this.inside = { deep: { deeper: { deepest: 1 } } }; } [Symbol('s')] = 1; }
console.log(util.inspect(new Box(), { depth: 0 }), util.inspect(new Box(), false, null), util.inspect('it\'s'), util.inspect(new Map([[{ a: 1 }, new Set([1n])]]), { compact: false }), util.inspect(Object.create(null)), util.inspect([, 'x', ...Array(120).keys()]).split('\n').length);
console.log({ f() {}, g: class G {}, h: Symbol('h'), i: /r/g, j: new Error('e').message, k: [undefined, null], l: new Proxy({}, {}), m: Promise.resolve(1), n: function () {} , o: new Uint8Array(2)});
const circle = { name: 'c' }; circle.me = circle;
console.log(circle, util.format('%O', { a: { b: { c: {} } } }), util.isDeepStrictEqual({ a: [1, new Set([1])] }, { a: [1, new Set([1])] }), util.types.isRegExp(/x/), util.inspect({ [util.inspect.custom]: () => 'custom!' }));
console.error('to stderr %s', 'too'); console.info('info'); console.warn('warn'); console.debug('debug');
console.group('group'); console.log('inside'); console.groupEnd(); console.count(); console.count(); console.assert(1 === 2, 'assertion'); console.dir({ a: 1 });
