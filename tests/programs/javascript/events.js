const EventEmitter = require('events');
const { once, on } = EventEmitter;
const emitter = new EventEmitter();
emitter.on('a', (...args) => console.log('on', args));
emitter.prependListener('a', () => console.log('first'));
emitter.once('a', function () { console.log('once', this === emitter); });
console.log(emitter.emit('a', 1, 2), emitter.emit('a'), emitter.emit('b'), emitter.listenerCount('a'), emitter.eventNames());
try { emitter.emit('error', new Error('nobody listens')); } catch (error) { console.log(error.message); }
(async () => {
  setImmediate(() => emitter.emit('ready', 'now'));
  console.log(await once(emitter, 'ready'));
  setImmediate(() => { emitter.emit('n', 1); emitter.emit('n', 2); });
  for await (const [n] of on(emitter, 'n')) { console.log('n', n); if (n === 2) break; }
  const target = new EventTarget();
  target.addEventListener('x', (event) => console.log(event.type, event instanceof Event), { once: true });
  console.log(target.dispatchEvent(new Event('x')), target.dispatchEvent(new Event('x')));
})();
