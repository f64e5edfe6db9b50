const { Worker } = require('worker_threads');
const second = () => new Worker('process.exit(4)', { eval: true }).on('exit', (code) => console.log('exit', code));
new Worker('throw new TypeError("in the worker")', { eval: true })
  .on('error', (error) => console.log(error.name, error.message))
  .on('exit', (code) => {
    console.log('exit', code);
    second();
  });
