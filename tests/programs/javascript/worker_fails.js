const { Worker } = require('worker_threads');
new Worker('throw new TypeError("in the worker")', { eval: true })
  .on('error', (error) => console.log(error.name, error.message))
  .on('exit', (code) => console.log('exit', code));
new Worker('process.exit(4)', { eval: true }).on('exit', (code) => setTimeout(() => console.log('exit', code), 100));
