import { types } from "node:util";

/** Objects that would go out as an empty map, or as what the daemon does not know, and what to give. */
const STRANGERS: readonly (readonly [(value: unknown) => boolean, string])[] = [
	[types.isMap, "a Map: give an object, such as Object.fromEntries(map)"],
	[types.isSet, "a Set: give an array, such as [...set]"],
	[types.isDate, "a Date: give text or a number, such as date.toISOString()"],
	[types.isRegExp, "a RegExp: give text, such as regexp.source"],
	[types.isPromise, "a Promise: await it first"],
	[types.isAnyArrayBuffer, "an ArrayBuffer: give bytes, such as new Uint8Array(buffer)"],
];

const DEEPEST = 96; // the encoder stops at 100, and the envelope has some of them

const has64Bits = (value: bigint): boolean => BigInt.asIntN(64, value) === value || BigInt.asUintN(64, value) === value;

/** The value as a JSON Pointer, which is how the daemon names keys, too. */
const pointer = (keys: readonly (string | number)[]): string =>
	keys.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

function mustBeObject(value: object, keys: (string | number)[]): void {
	const stranger = STRANGERS.find(([is]) => is(value));
	if (stranger) throw new TypeError(`${pointer(keys)} is ${stranger[1]}`);
	if (keys.length > DEEPEST) throw new TypeError(`/${keys[0]} nests deeper than ${DEEPEST} levels, or holds itself`);
	const names = Array.isArray(value) ? value.keys() : Object.keys(value);
	for (const name of names) {
		keys.push(name);
		mustBeSendable((value as { [name: string | number]: unknown })[name], keys);
		keys.pop();
	}
}

/** A value that the protocol has no form for is an error that names its key, before anything is sent. */
export function mustBeSendable(value: unknown, keys: (string | number)[] = []): void {
	if (typeof value === "bigint" && !has64Bits(value))
		throw new RangeError(`${pointer(keys)} is the integer ${value}, which does not fit into 64 bits: ` +
			"the protocol has integers from -(2n ** 63n) to 2n ** 64n - 1n");
	if (typeof value === "function" || typeof value === "symbol")
		throw new TypeError(`${pointer(keys)} is a ${typeof value}, which cannot be sent`);
	if (typeof value === "object" && value !== null && !ArrayBuffer.isView(value)) mustBeObject(value, keys);
}
