console.log('hello', 6 * 7, [1, 'two', null], { a: { b: { c: { d: 1 } } } });
