process.on('SIGUSR2', (name, number) => {
  console.log('got', name, number);
  process.kill(process.pid, 'SIGTERM');
});
setTimeout(() => process.kill(process.pid, 'SIGUSR2'), 5);
setInterval(() => {}, 1000);
