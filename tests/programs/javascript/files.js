const fs = require('fs');
fs.mkdirSync('data/deep/er', { recursive: true });
fs.writeFileSync('data/a.txt', 'first\n');
fs.appendFileSync('data/a.txt', 'second\n');
fs.copyFileSync('data/a.txt', 'data/deep/b.txt');
fs.renameSync('data/deep/b.txt', 'data/deep/c.txt');
console.log(fs.readFileSync('data/a.txt', 'utf8').split('\n'), fs.readdirSync('data').sort(), fs.existsSync('data/deep/b.txt'));
const stat = fs.statSync('data/a.txt');
console.log(stat.size, stat.isFile(), stat.isDirectory(), (stat.mode & 0o777).toString(8), stat.mtime instanceof Date);
const fd = fs.openSync('data/a.txt', 'r+');
fs.writeSync(fd, 'FIRST', 0); fs.ftruncateSync(fd, 8); fs.closeSync(fd);
console.log(JSON.stringify(fs.readFileSync('data/a.txt', 'latin1')), fs.readdirSync('.', { recursive: true }).filter((name) => name.includes('deep')).sort());
for (const attempt of [() => fs.readFileSync('missing'), () => fs.mkdirSync('data'), () => fs.rmdirSync('data'), () => fs.readFileSync('data')])
  try { attempt(); } catch (error) { console.log(error.code, error.syscall); }
fs.rmSync('data', { recursive: true });
console.log(fs.existsSync('data'));
