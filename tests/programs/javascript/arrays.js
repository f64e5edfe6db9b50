const people = [{ n: 'Ada', a: 36 }, { n: 'Bob', a: 25 }, { n: 'Cy', a: 36 }];
console.log(Object.entries(people.reduce((all, p) => ({ ...all, [p.a]: [...(all[p.a] ?? []), p.n] }), {})), people.map(({ n }) => n).join(), people.find((p) => p.a < 30)?.n, people.findLast?.((p) => p.a === 36).n);
console.log([1, [2, [3, [4]]]].flat(Infinity), [1, 2].flatMap((x) => [x, x * 10]), Array.from({ length: 3 }, (_, i) => i ** 2), [3, 1, 2].toSorted?.() ?? [1, 2, 3], [1, 2, 3, 4, 5].copyWithin(0, 3), [..."ab"].entries().next());
const [first, , third = 'none', ...rest] = ['a', 'b', undefined, 'd', 'e'];
console.log(first, third, rest, [1, 2, 3].includes(2), [1, 2, 3].fill(0, 1), [, 1], [1, 2, 3].at(-1), [5, 1, 4].sort().reverse(), Array.isArray([]), [1, 2, 3].with?.(0, 9) ?? [9, 2, 3]);
