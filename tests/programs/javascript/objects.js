const point = Object.freeze({ x: 1, y: { z: 2 } });
'use strict';
const { x, y: { z = 5, w = 6 } = {}, ...others } = { ...point, a: 1, b: undefined };
console.log(x, z, w, others, point?.q?.r, point.q ?? 'none', Object.isFrozen(point), structuredClone({ d: new Date(0), m: new Map([[1, { a: [] }]]) }));
const o = { get double() { return this.n * 2; }, n: 4, [`k${1}`]: 'computed', valueOf() { return 10; }, [Symbol.toPrimitive](hint) { return hint === 'number' ? 42 : hint; } };
console.log(o.double, +o, `${o}`, o + '', JSON.stringify(o), Object.entries(o).length, delete o.n, 'n' in o, Object.getOwnPropertyDescriptor(o, 'double').set);
label: for (const i of [1, 2, 3]) for (const j of [1, 2]) { if (j === 2) continue label; if (i === 3) break label; console.log(i, j); }
console.log([typeof null, typeof undefined, typeof (() => 1), void 0, null ?? 'd', 0 || 'f', '' && 'g', [] + {}, [2] * [3], null == undefined, NaN == NaN]);
