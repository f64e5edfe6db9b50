// inside: listen EPERM
// inside: connect EPERM
// inside: lookup true
// inside-stderr: ced: this run has no network; send what it needs with the run, in files or stdin
const net = require('net');
const server = net.createServer().on('error', (error) => { console.log('listen', error.code); next(); });
server.listen(0, '127.0.0.1', () => { console.log('listen', 'works'); server.close(next); });
function next() {
  net.connect(1, '127.0.0.1').on('error', (error) => {
    console.log('connect', error.code);
    require('dns').lookup('nowhere.invalid', (e) => console.log('lookup', Boolean(e)));
  });
}
