const { Worker, MessageChannel, receiveMessageOnPort } = require('worker_threads');
const { port1, port2 } = new MessageChannel();
port1.postMessage({ map: new Map([[1, new Set(['a'])]]), date: new Date(0), big: 10n ** 20n });
console.log(receiveMessageOnPort(port2).message, receiveMessageOnPort(port2));
const shared = new SharedArrayBuffer(8);
const cells = new Int32Array(shared);
const worker = new Worker(`
  const { workerData } = require('worker_threads');
  const cells = new Int32Array(workerData);
  Atomics.wait(cells, 0, 0);
  Atomics.add(cells, 1, 41);
`, { eval: true, workerData: shared });
Atomics.store(cells, 0, 1);
Atomics.notify(cells, 0);
worker.on('exit', (code) => console.log('worker left', code, Atomics.add(cells, 1, 1) + 1));
port1.close();
