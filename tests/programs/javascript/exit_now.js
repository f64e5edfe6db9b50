// env: NODE_OPTIONS=
setTimeout(() => console.log('never'), 10);
console.log('leaving');
process.exit(7);
