// inside: EPERM
// inside: EPERM
// inside: error EPERM
const { spawnSync, execSync, spawn } = require('child_process');
console.log(spawnSync('/bin/true').error?.code ?? 'started');
try { execSync('true'); console.log('started'); } catch (error) { console.log(error.code); }
try {
  spawn('/bin/true').on('error', (error) => console.log('error', error.code)).on('exit', (code) => console.log('exit', code));
} catch (error) {
  console.log('error', error.code);
}
