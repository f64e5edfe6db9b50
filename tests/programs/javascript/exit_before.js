process.on('beforeExit', (code) => {
  console.log('beforeExit', code, process.exitCode);
  if (process.exitCode === undefined) {
    process.exitCode = 2;
    setImmediate(() => console.log('once more'));
  }
});
