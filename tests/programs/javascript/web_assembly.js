const bytes = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 7, 1, 96, 2, 127, 127, 1, 127, 3, 2, 1, 0, 7, 7, 1, 3, 97, 100, 100, 0, 0, 10, 9, 1, 7, 0, 32, 0, 32, 1, 106, 11]);
const { add } = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;
let sum = 0;
for (let i = 0; i < 1e5; i++) sum = add(sum, i) | 0;
console.log(add(2, 3), add(2147483647, 1), sum, WebAssembly.validate(bytes.slice(0, 9)));
WebAssembly.instantiate(bytes).then(({ instance }) => console.log(instance.exports.add(1, 1)));
console.log(new WebAssembly.Memory({ initial: 1 }).buffer.byteLength);
