import { randomBytes, randomInt } from "node:crypto";

const LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
let count = randomInt(1 << 20);
let pool = randomBytes(0); // asked for rarely: it costs as much as all the rest

const letters = (value: number, length: number): string => {
	let text = "";
	for (let i = 0, rest = value; i < length; i++, rest = Math.floor(rest / 32)) text = LETTERS[rest % 32] + text;
	return text;
};

/**
 * A new run id. The daemon tells runs of one millisecond apart by the last four characters, so
 * these count up within a process.
 */
export function ulid(): string {
	count = (count + 1) & 0xfffff;
	if (pool.length === 0) pool = randomBytes(12 * 100);
	let middle = "";
	for (const byte of pool.subarray(0, 12)) middle += LETTERS[byte & 31];
	pool = pool.subarray(12);
	return letters(Date.now(), 10) + middle + letters(count, 4);
}
