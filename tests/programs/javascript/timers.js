const began = Date.now();
let beats = 0;
const interval = setInterval(() => {
  if (++beats === 3) {
    clearInterval(interval);
    console.log('beats', beats, Date.now() - began >= 12);
  }
}, 4);
const never = setTimeout(() => console.log('never'), 5);
clearTimeout(never);
setTimeout((a, b) => console.log('arguments', a, b), 1, 'one', 2);
setTimeout(() => {}, 1000000).unref();
console.log(interval.hasRef(), typeof interval.ref);
