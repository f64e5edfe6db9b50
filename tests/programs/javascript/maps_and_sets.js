const map = new Map([['b', 2], ['a', 1], [NaN, 'nan'], [{}, 'object']]);
map.delete('b'); map.set('b', 3);
console.log(map, map.get(NaN), [...map.keys()].length, new Map([...map].filter(([k]) => typeof k === 'string').sort()));
const a = new Set([1, 2, 3]), b = new Set([2, 3, 4]);
console.log(new Set([...a, ...b]), [...a].filter((x) => b.has(x)), a.size, new Set('hello'));
const weak = new WeakMap(); const key = {};
weak.set(key, 'kept');
console.log(weak.get(key), weak.has({}), new WeakRef(key).deref() === key, Object.groupBy ? 'grouped' in {} : false);
