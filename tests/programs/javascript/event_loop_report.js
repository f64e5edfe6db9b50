const order = [];
const { setImmediate: immediate } = require('timers/promises');
(async () => {
  setTimeout(() => order.push('timer'), 0);
  await new Promise((resolve) => require('fs').readFile(__filename, () => { setImmediate(() => { order.push('check'); resolve(); }); setTimeout(() => order.push('timer 2'), 0); process.nextTick(() => order.push('tick')); }));
  await immediate();
  await new Promise((resolve) => setTimeout(resolve, 5));
  console.log(order.sort().join(' < '));
})();
