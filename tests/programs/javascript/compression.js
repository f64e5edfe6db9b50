const zlib = require('zlib');
const text = 'to be or not to be, that is the question. '.repeat(200);
for (const [pack, unpack] of [['gzipSync', 'gunzipSync'], ['deflateSync', 'inflateSync'], ['brotliCompressSync', 'brotliDecompressSync']]) {
  const packed = zlib[pack](text);
  console.log(pack, packed.length < 400, zlib[unpack](packed).toString() === text);
}
zlib.gzip(text, (error, packed) => zlib.gunzip(packed, (e, back) => console.log(error, e, back.length)));
try { zlib.inflateSync(Buffer.from('no zlib')); } catch (error) { console.log(error.code); }
