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

const INCOMPLETE = new Error("the message is not complete");

/** What the first bytes from 0xc0 stand for; the protocol has no others. */
const READ: { [first: number]: (its: Reader) => unknown } = {
	0xc0: () => null,
	0xc2: () => false,
	0xc3: () => true,
	0xc4: (its) => its.binary(its.uint(1)),
	0xc5: (its) => its.binary(its.uint(2)),
	0xc6: (its) => its.binary(its.uint(4)),
	0xca: (its) => its.bytes.readFloatBE(its.take(4)),
	0xcb: (its) => its.bytes.readDoubleBE(its.take(8)),
	0xcc: (its) => its.uint(1),
	0xcd: (its) => its.uint(2),
	0xce: (its) => its.uint(4),
	0xcf: (its) => exact(its.bytes.readBigUInt64BE(its.take(8))),
	0xd0: (its) => its.bytes.readInt8(its.take(1)),
	0xd1: (its) => its.bytes.readInt16BE(its.take(2)),
	0xd2: (its) => its.bytes.readInt32BE(its.take(4)),
	0xd3: (its) => exact(its.bytes.readBigInt64BE(its.take(8))),
	0xd9: (its) => its.text(its.uint(1)),
	0xda: (its) => its.text(its.uint(2)),
	0xdb: (its) => its.text(its.uint(4)),
	0xdc: (its) => its.list(its.uint(2)),
	0xdd: (its) => its.list(its.uint(4)),
	0xde: (its) => its.map(its.uint(2)),
	0xdf: (its) => its.map(its.uint(4)),
};

class Reader {
	at = 0;

	constructor(readonly bytes: Buffer) {}

	/** Where the next `length` bytes begin, which are passed over. */
	take(length: number): number {
		const at = this.at;
		this.at += length;
		if (this.at > this.bytes.length) throw INCOMPLETE;
		return at;
	}

	uint(width: number): number {
		return this.bytes.readUIntBE(this.take(width), width);
	}

	value(): unknown {
		const first = this.bytes[this.take(1)]!;
		if (first <= 0x7f) return first;
		if (first >= 0xe0) return first - 0x100;
		if (first <= 0x8f) return this.map(first & 15);
		if (first <= 0x9f) return this.list(first & 15);
		if (first <= 0xbf) return this.text(first & 31);
		const read = READ[first];
		if (!read) throw new Error(`the daemon sent the byte 0x${first.toString(16)}, which is no value of the protocol`);
		return read(this);
	}

	text(length: number): string {
		const at = this.take(length);
		return this.bytes.toString("utf8", at, this.at);
	}

	binary(length: number): Uint8Array {
		const at = this.take(length);
		return new Uint8Array(this.bytes.subarray(at, this.at));
	}

	list(items: number): unknown[] {
		const list: unknown[] = [];
		for (let i = 0; i < items; i++) list.push(this.value());
		return list;
	}

	map(pairs: number): object {
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

/** The first message in `bytes` and its length, or nothing if it is not complete. */
export function decode(bytes: Buffer): { value: unknown; length: number } | undefined {
	const reader = new Reader(bytes);
	try {
		return { value: reader.value(), length: reader.at };
	} catch (error) {
		if (error === INCOMPLETE) return undefined;
		throw error;
	}
}
