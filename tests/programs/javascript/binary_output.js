const all = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
process.stdout.write(all.subarray(32, 127));
process.stdout.write('\n');
process.stdout.write(Buffer.from('e282ac0a', 'hex'), () => process.stderr.write('written\n'));
console.log(process.stdout.isTTY, process.stdout.writable, process.stdout.fd, process.stdin.fd);
