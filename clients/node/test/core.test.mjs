// The core without a socket: messages that come in any pieces.
import assert from "node:assert/strict";
import { test } from "node:test";

import { encode } from "@msgpack/msgpack";
import { Core } from "ced";

const answer = (msgid, result) => Buffer.from(encode([1, msgid, null, result], { useBigInt64: true }));
const values = {
	text: "é".repeat(40), long: "x".repeat(70000), bytes: new Uint8Array(300).fill(7), many: Array.from({ length: 70000 }, (_, i) => i % 3),
	wide: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, i])), none: null, yes: true, no: false,
	numbers: [0, 127, 128, 255, 256, 65535, 65536, 2 ** 32, -1, -32, -33, -128, -129, -32769, -(2 ** 31) - 1, 1.5, -0.25],
};

test("messages are the same in one piece, in pieces of each length, and together", () => {
	const small = { ...values, long: "", many: [] };
	const both = Buffer.concat([answer(1, small), Buffer.from(encode([2, "run.output", [{ a: 1 }]])), answer(2, small)]);
	for (const size of [1, 2, 3, 7, 100, both.length]) {
		const core = new Core();
		const found = [];
		for (let at = 0; at < both.length; at += size) found.push(...core.feed(both.subarray(at, at + size)));
		assert.deepEqual(found, [
			{ kind: "answer", msgid: 1, error: null, result: small },
			{ kind: "notice", method: "run.output", params: { a: 1 } },
			{ kind: "answer", msgid: 2, error: null, result: small },
		], `pieces of ${size}`);
	}
	assert.deepEqual(new Core().feed(answer(3, values))[0].result, values);
});

test("what is no message of the protocol is an error", () => {
	assert.throws(() => new Core().feed(Buffer.from(encode([7]))), /neither an answer nor a notification/);
	assert.throws(() => new Core().feed(Buffer.from([0x91, 0xc1])), /0xc1/);
});
