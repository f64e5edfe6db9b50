import { Encoder } from "@msgpack/msgpack";

import { decode, Scanner } from "./decode.js";
import type { Map_ } from "./methods.js";
import { mustBeSendable } from "./sendable.js";

/** What the daemon sent: the answer to a request, or a notification. */
export type Incoming =
	| { kind: "answer"; msgid: number; error: Map_ | null; result: Map_ }
	| { kind: "notice"; method: string; params: Map_ };

/**
 * The protocol without a socket: it numbers requests, makes their bytes, and cuts the bytes that
 * come into messages.
 */
export class Core {
	private readonly encoder = new Encoder({ ignoreUndefined: true, useBigInt64: true });
	private readonly scanner = new Scanner();
	private last = 0;
	private buffer = Buffer.alloc(0);
	private used = 0;

	/** A request as bytes, with the number that its answer will have. */
	request(method: string, params: Map_): { msgid: number; bytes: Uint8Array } {
		mustBeSendable(params);
		this.last = (this.last + 1) >>> 0;
		return { msgid: this.last, bytes: this.encoder.encode([0, this.last, method, [params]]) };
	}

	/**
	 * Takes bytes from the socket and gives the messages that are complete. One that was not complete at
	 * first is only read again when its end is there.
	 */
	feed(bytes: Uint8Array): Incoming[] {
		const chunk = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
		let isKept = this.used > 0;
		let rest = isKept ? this.append(chunk) : chunk;
		const messages: Incoming[] = [];
		while (rest.length > 0 && !(isKept && this.scanner.scan(rest) === 0)) {
			const first = decode(rest);
			if (!first) break;
			messages.push(read(first.value));
			rest = rest.subarray(first.length);
			isKept = false;
		}
		this.keep(rest);
		return messages;
	}

	/** Puts the chunk behind what is kept, in a buffer that doubles when it is full. */
	private append(chunk: Buffer): Buffer {
		const wanted = this.used + chunk.length;
		if (wanted > this.buffer.length) {
			const larger = Buffer.allocUnsafe(Math.max(wanted, 2 * this.buffer.length));
			this.buffer.copy(larger, 0, 0, this.used);
			this.buffer = larger;
		}
		chunk.copy(this.buffer, this.used);
		this.used = wanted;
		return this.buffer.subarray(0, wanted);
	}

	private keep(rest: Buffer): void {
		if (rest.length > 0 && rest.length === this.used) return; // nothing was complete
		this.used = 0;
		this.buffer = Buffer.alloc(0);
		if (rest.length > 0) this.append(rest);
	}
}

function read(message: unknown): Incoming {
	if (Array.isArray(message) && message[0] === 1 && message.length === 4)
		return { kind: "answer", msgid: message[1], error: message[2], result: message[3] };
	if (Array.isArray(message) && message[0] === 2 && message.length === 3)
		return { kind: "notice", method: message[1], params: message[2][0] ?? {} };
	throw new Error("the daemon sent something that is neither an answer nor a notification");
}
