process.exitCode = 3;
process.on('exit', (code) => console.log('exit', code));
console.log('before');
