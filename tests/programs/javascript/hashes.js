const crypto = require('crypto');
for (const name of ['md5', 'sha1', 'sha256', 'sha512', 'sha3-256']) console.log(name, crypto.createHash(name).update('text').digest('hex').slice(0, 32));
console.log(crypto.createHmac('sha256', 'key').update('text').digest('base64'));
console.log(crypto.pbkdf2Sync('password', 'salt', 1000, 24, 'sha256').toString('hex'), crypto.scryptSync('p', 's', 16).toString('hex'));
console.log(crypto.timingSafeEqual(Buffer.from('ab'), Buffer.from('ab')), crypto.getHashes().length > 10);
