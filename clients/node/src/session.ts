/// <reference lib="esnext.disposable" preserve="true" />
import type { Client } from "./client.js";
import type { Map_ } from "./methods.js";
import { byName, RunStream, type Result, type RunOptions } from "./run.js";

/** Symbol.asyncDispose where the runtime has it; older ones get a symbol that nobody uses. */
const dispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? (Symbol("Symbol.asyncDispose") as never);

/** Several programs in one worker, each of which finds what the ones before it left. */
export class Session {
	readonly id: string;
	/** The state in which it stands; null if it stands in none. */
	state: number | null = 0;
	/** The states to which it can go back. */
	kept: number[] = [];
	/** Why the session has ended, when the daemon has said so. */
	ended: Map_ | undefined;

	/** Made by `client.openSession()`; `opened` is the answer of `session.open`. */
	constructor(private readonly client: Client, readonly opened: Map_) {
		this.id = opened.session;
	}

	/** Runs a cell. */
	async run<T>(code: string | Uint8Array, options: RunOptions<T> = {}): Promise<Result<T>> {
		byName("run", options);
		return this.seen(await this.client.run(code, { ...options, session: this.id }));
	}

	/** Runs a cell whose events can be iterated. */
	stream<T>(code: string | Uint8Array, options: RunOptions<T> = {}): RunStream<T> {
		byName("stream", options);
		const stream = this.client.stream(code, { ...options, session: this.id });
		stream.result.then((result) => this.seen(result), () => undefined);
		return stream;
	}

	/** Goes back to a kept state. */
	async rollback(state: number): Promise<Map_> {
		return this.stands(await this.client.call("session.rollback", { session: this.id, state }));
	}

	/** Pins the present state, so that newer ones do not replace it. */
	async keep(name?: string): Promise<Map_> {
		return this.stands(await this.client.call("session.keep", { session: this.id, name }));
	}

	/** Gives up a kept state. */
	async drop(state: number): Promise<Map_> {
		return this.stands(await this.client.call("session.drop", { session: this.id, state }));
	}

	/** Ends the session. One that has ended already stays so, and the answer is then nothing. */
	async close(): Promise<Map_ | undefined> {
		if (this.ended) return undefined;
		this.ended = { session: this.id, why: "closed" };
		return this.client.call("session.close", { session: this.id });
	}

	/** Notes what a cell says of its session: where it stands, and why it has ended. */
	private seen<T>(result: Result<T>): Result<T> {
		if (result.session) {
			this.stands(result.session);
			if (result.session.why) this.ended ??= { session: this.id, why: result.session.why };
		}
		return result;
	}

	private stands(answer: Map_): Map_ {
		this.state = answer.state ?? null;
		this.kept = answer.kept ?? [];
		return answer;
	}

	async [dispose](): Promise<void> {
		await this.close().catch(() => undefined);
	}
}
