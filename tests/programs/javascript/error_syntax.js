const good = 1;
const bad = { a: 1, b: };
