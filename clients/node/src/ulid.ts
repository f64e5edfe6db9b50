import { randomBytes, randomInt } from "node:crypto";

const LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
let count = randomInt(1 << 20);

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
	const middle = Array.from(randomBytes(12), (byte) => LETTERS[byte & 31]).join("");
	return letters(Date.now(), 10) + middle + letters(count, 4);
}
