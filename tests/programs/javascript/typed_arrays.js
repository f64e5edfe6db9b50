const view = new DataView(new ArrayBuffer(16));
view.setFloat32(0, 1.5); view.setBigInt64(4, -1n, true); view.setUint16(12, 65535);
console.log(new Uint8Array(view.buffer), view.getFloat32(0), view.getBigInt64(4, true), view.getInt16(12));
console.log(Uint8ClampedArray.of(300, -5, 1.6), Int8Array.from([127, 128, 129]), new Float32Array([0.1])[0], new BigUint64Array([2n ** 64n - 1n]));
const a = new Uint16Array([5, 3, 9, 1]);
console.log(a.sort(), a.toSorted ? a.toSorted((x, y) => y - x) : null, a.subarray(1, 3), a.slice(-1), a.buffer.byteLength, structuredClone(a));
