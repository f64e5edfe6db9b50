const b = Buffer.from('grüße €');
console.log(b, b.length, b.toString('hex'), b.toString('base64'), b.toString('base64url'), b.toString('latin1').length);
console.log(Buffer.concat([Buffer.from([1, 2]), Buffer.alloc(2, 'x')]), Buffer.from('ff00', 'hex').readUInt16BE(), Buffer.compare(Buffer.from('a'), Buffer.from('b')));
const w = Buffer.alloc(16);
w.writeInt32LE(-5, 0); w.writeDoubleBE(Math.PI, 4); w.writeUIntBE(0x123456, 12, 3);
console.log(w.toString('hex'), w.readInt32LE(0), w.readDoubleBE(4), w.readUIntBE(12, 3).toString(16));
console.log(b.indexOf('ß'), b.includes('€'), b.subarray(0, 2).toString(), b.swap16 && Buffer.from([1, 2, 3, 4]).swap16(), JSON.stringify(Buffer.from('a')));
try { w.readUInt32LE(14); } catch (error) { console.log(error.code); }
