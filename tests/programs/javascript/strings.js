const name = 'Ada';
const tag = (parts, ...values) => parts.raw.join('|') + values.length;
console.log(`${name.padEnd(6, '.')}|${name.padStart(5)}|${'ab'.repeat(3)}`, tag`x${1}\n${2}y`, String.raw`\n`, 'abc'.at(-1), 'a-b-c'.split('-', 2));
console.log([...'añ😀'].length, 'añ😀'.length, '😀'.codePointAt(0).toString(16), String.fromCodePoint(128512), 'a\u0301'.normalize().length, ' x '.trim() + '!', 'abcdef'.slice(-3, -1), 'Hello'.localeCompare('hello'));
console.log('%s is %d years and %i, %f, %j %o %%', 'Bob', 42.9, 42.9, '1.5', { a: 1 }, [1]);
