// entrypoint: main.mjs
import { setTimeout as sleep, setInterval as every, scheduler } from 'node:timers/promises';
console.log(await sleep(2, 'slept'));
let ticks = 0;
for await (const value of every(2, 'tick')) {
  console.log(value, ++ticks);
  if (ticks === 3) break;
}
await scheduler.wait(1);
console.log('done');
