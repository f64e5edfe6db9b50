const bytes = new TextEncoder().encode('añ漢😀');
console.log(bytes, new TextDecoder().decode(bytes), new TextEncoder().encodeInto('€€', new Uint8Array(4)));
console.log(new TextDecoder('utf-16le').decode(new Uint8Array([0x41, 0, 0xac, 0x20])), new TextDecoder('windows-1252').decode(new Uint8Array([0x80])));
try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([0xff])); } catch (error) { console.log(error.code, error.name); }
const { StringDecoder } = require('string_decoder');
const decoder = new StringDecoder('utf8');
console.log([...bytes].map((byte) => decoder.write(Buffer.from([byte]))).join('|'), atob(btoa('text')), escape('ü'), encodeURIComponent('a b/ü'));
