const { Worker, isMainThread, parentPort, workerData, threadId } = require('worker_threads');
if (isMainThread) {
  const done = [1, 2, 3].map((n) => new Promise((resolve, reject) => new Worker(__filename, { workerData: n })
    .on('message', resolve).on('error', reject)));
  Promise.all(done).then((answers) => console.log(answers, threadId));
} else {
  let sum = 0;
  for (let i = 0; i < 1e5 * workerData; i++) sum += i % 7;
  parentPort.postMessage([workerData, sum, isMainThread]);
}
