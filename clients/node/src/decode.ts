/**
 * Reads MessagePack. Integers that a double cannot hold become BigInt. Keys of maps are set as own
 * properties, so a program that prints the key `__proto__` changes nothing but its own value.
 */

/** For each first byte from 0xc0: bytes of the header after it, and fixed bytes of content. */
const HEADER: readonly (readonly [number, number])[] = [
	[0, 0], [0, 0], [0, 0], [0, 0], // nil, never used, false, true
	[1, 0], [2, 0], [4, 0], // bin
	[1, 0], [2, 0], [4, 0], // ext
	[0, 4], [0, 8], // float
	[0, 1], [0, 2], [0, 4], [0, 8], // uint
	[0, 1], [0, 2], [0, 4], [0, 8], // int
	[0, 2], [0, 3], [0, 5], [0, 9], [0, 17], // fixext
	[1, 0], [2, 0], [4, 0], // str
	[2, 0], [4, 0], // array
	[2, 0], [4, 0], // map
];

const number = (bytes: Buffer, at: number, width: number): number => (width ? bytes.readUIntBE(at, width) : 0);

interface Shape {
	kind: "array" | "map" | "str" | "bin" | "ext" | "scalar";
	/** Bytes of the header with its first byte. */
	header: number;
	/** Bytes of content, or items of an array, or pairs of a map. */
	count: number;
}

const KINDS: { [first: number]: Shape["kind"] } = {
	0xc4: "bin", 0xc5: "bin", 0xc6: "bin",
	0xc7: "ext", 0xc8: "ext", 0xc9: "ext",
	0xd4: "ext", 0xd5: "ext", 0xd6: "ext", 0xd7: "ext", 0xd8: "ext",
	0xd9: "str", 0xda: "str", 0xdb: "str",
	0xdc: "array", 0xdd: "array", 0xde: "map", 0xdf: "map",
};

/** The shape of the value that begins at `at`, or nothing if its header is not there as a whole. */
function shapeAt(bytes: Buffer, at: number): Shape | undefined {
	const first = bytes[at];
	if (first === undefined) return undefined;
	if (first <= 0x7f || first >= 0xe0) return { kind: "scalar", header: 1, count: 0 };
	if (first <= 0x8f) return { kind: "map", header: 1, count: first & 15 };
	if (first <= 0x9f) return { kind: "array", header: 1, count: first & 15 };
	if (first <= 0xbf) return { kind: "str", header: 1, count: first & 31 };
	const [width, fixed] = HEADER[first - 0xc0]!;
	if (at + 1 + width > bytes.length) return undefined;
	const kind = KINDS[first] ?? "scalar";
	const more = kind === "ext" && width > 0 ? 1 : 0; // the type of an extension
	return { kind, header: 1 + width, count: width ? number(bytes, at + 1, width) + more : fixed };
}

/** Finds the end of one message, and goes on where it stopped when more bytes have come. */
export class Scanner {
	private at = 0;
	private wanted = 1;

	/** The length of the first message in `bytes`, or 0 if it is not complete. */
	scan(bytes: Buffer): number {
		while (this.wanted > 0) {
			const shape = shapeAt(bytes, this.at);
			if (!shape) return 0;
			const nested = shape.kind === "array" ? shape.count : shape.kind === "map" ? 2 * shape.count : 0;
			const content = shape.kind === "array" || shape.kind === "map" ? 0 : shape.count;
			if (this.at + shape.header + content > bytes.length) return 0;
			this.at += shape.header + content;
			this.wanted += nested - 1;
		}
		const length = this.at;
		this.at = 0;
		this.wanted = 1;
		return length;
	}
}

const exact = (value: bigint): number | bigint =>
	value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;

const SCALARS: { [first: number]: (bytes: Buffer, at: number) => unknown } = {
	0xc0: () => null,
	0xc2: () => false,
	0xc3: () => true,
	0xca: (bytes, at) => bytes.readFloatBE(at),
	0xcb: (bytes, at) => bytes.readDoubleBE(at),
	0xcc: (bytes, at) => bytes.readUInt8(at),
	0xcd: (bytes, at) => bytes.readUInt16BE(at),
	0xce: (bytes, at) => bytes.readUInt32BE(at),
	0xcf: (bytes, at) => exact(bytes.readBigUInt64BE(at)),
	0xd0: (bytes, at) => bytes.readInt8(at),
	0xd1: (bytes, at) => bytes.readInt16BE(at),
	0xd2: (bytes, at) => bytes.readInt32BE(at),
	0xd3: (bytes, at) => exact(bytes.readBigInt64BE(at)),
};

class Reader {
	private at = 0;

	constructor(private readonly bytes: Buffer) {}

	value(): unknown {
		const first = this.bytes[this.at]!;
		const shape = shapeAt(this.bytes, this.at)!;
		const start = this.at + shape.header;
		this.at = start;
		if (shape.kind === "array") return Array.from({ length: shape.count }, () => this.value());
		if (shape.kind === "map") return this.map(shape.count);
		this.at += shape.count;
		if (shape.kind === "str") return this.bytes.toString("utf8", start, this.at);
		if (shape.kind === "bin") return new Uint8Array(this.bytes.subarray(start, this.at));
		if (first <= 0x7f) return first;
		if (first >= 0xe0) return first - 0x100;
		const scalar = SCALARS[first];
		if (!scalar) throw new Error(`the daemon sent the byte 0x${first.toString(16)}, which is no value of the protocol`);
		return scalar(this.bytes, start);
	}

	private map(pairs: number): object {
		const map: { [key: string]: unknown } = {};
		for (let i = 0; i < pairs; i++) {
			const key = String(this.value());
			const value = this.value();
			if (key === "__proto__") Object.defineProperty(map, key, { value, enumerable: true, writable: true, configurable: true });
			else map[key] = value;
		}
		return map;
	}
}

/** The value of one whole message. */
export const decode = (bytes: Buffer): unknown => new Reader(bytes).value();
