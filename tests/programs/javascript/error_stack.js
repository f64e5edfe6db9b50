function outer() {
  return middle();
}
const middle = () => new Error('here').stack;
console.log(outer().split('\n').slice(0, 4).join('\n').replace(/\/.*\/work/g, '/work'));
Error.stackTraceLimit = 1;
console.log(new Error('short').stack.split('\n').length);
