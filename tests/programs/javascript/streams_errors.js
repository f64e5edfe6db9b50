const { Readable, PassThrough, finished } = require('stream');
const broken = new Readable({ read() { this.destroy(new Error('broken pipe of ours')); } });
broken.on('error', (error) => console.log('error', error.message));
broken.on('close', () => console.log('closed', broken.destroyed));
finished(broken, (error) => console.log('finished', error?.message));
broken.resume();
const pass = new PassThrough();
finished(pass, (error) => console.log('premature', error?.code));
pass.destroy();
