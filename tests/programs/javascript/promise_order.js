console.log('1 sync');
setTimeout(() => console.log('6 timeout'), 0);
process.nextTick(() => console.log('3 tick'));
Promise.resolve().then(() => console.log('4 micro')).then(() => console.log('5 micro'));
queueMicrotask(() => process.nextTick(() => setTimeout(() => setImmediate(() => console.log('7 immediate')), 20)));
console.log('2 sync');
