/// <reference lib="esnext.disposable" preserve="true" />
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { Connection } from "./connection.js";
import { Busy, Conflict, ConnectionLost } from "./errors.js";
import { functionName, METHODS, type Map_, type Method, type MethodFunctions } from "./methods.js";
import { socketPath } from "./places.js";
import { Queue } from "./queue.js";
import { byName, finished, Listener, runParams, RunStream, type Pending, type Result, type RunOptions } from "./run.js";
import type { Schema } from "./schema.js";
import { Session } from "./session.js";
import { ulid } from "./ulid.js";

/** How a client connects and how long it tries. */
export interface ClientOptions {
	/** The daemon's socket; without it CED_SOCKET and the usual places. */
	socket?: string;
	/** How long a request that the daemon turned away as `busy` is repeated; 30 s. */
	busyMs?: number;
	/** How long a lost connection is tried again; 10 s. */
	reconnectMs?: number;
}

const CANCEL_MS = 2000; // for a daemon to answer a cancel
const PART = 4 << 20; // of a blob, and of a page of output
const OPTIONS = ["socket", "busyMs", "reconnectMs"]; // the keys of ClientOptions

function clientOptions(options: ClientOptions): ClientOptions {
	if (typeof options !== "object" || options === null)
		throw new TypeError('new Client() takes the path of a socket, or options such as { socket: "/run/ced/ced.sock" }');
	const unknown = Object.keys(options).find((key) => !OPTIONS.includes(key));
	if (unknown !== undefined)
		throw new TypeError(`new Client() has no option "${unknown}"; known are: ${OPTIONS.join(", ")}`);
	return options;
}

/** Why a run's answer is not waited for any more: the caller's own error, or the reason of its signal. */
class Stopped {
	constructor(readonly why: unknown) {}
}

const wasClosed = (): ConnectionLost => new ConnectionLost("this client was closed", false);

/** What the promise gives, or the signal's reason as soon as it aborts. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
	if (!signal) return promise;
	return new Promise((resolve, reject) => {
		const abort = (): void => reject(signal.reason);
		const over = (): void => signal.removeEventListener("abort", abort);
		signal.addEventListener("abort", abort, { once: true });
		if (signal.aborted) abort();
		promise.finally(over).then(resolve, reject);
	});
}

/** Symbol.asyncDispose where the runtime has it; older ones get a symbol that nobody uses. */
const dispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? (Symbol("Symbol.asyncDispose") as never);

// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging
export interface Client extends MethodFunctions {}

/**
 * A client of ced. It connects when it is first used, and again after the connection was lost.
 * Each method of the protocol is a function: `runs.list` is `client.runsList(params)`.
 */
// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging
export class Client {
	readonly socket: string;
	private readonly busyMs: number;
	private readonly reconnectMs: number;
	private connecting: Promise<Connection> | undefined;
	private connection: Connection | undefined;
	private connected = false;
	private wanting = 0; // how many requests wait for a connection
	private closed = false;
	private readonly listeners = new Map<string, Listener>();
	private readonly sessions = new Map<string, Session>();
	private readonly schemas = new WeakMap<object, Schema<unknown>>(); // of runs that were started

	/** `options` may be the path of the daemon's socket alone. */
	constructor(options: ClientOptions | string = {}) {
		const { socket, busyMs, reconnectMs } = clientOptions(typeof options === "string" ? { socket: options } : options);
		this.socket = socket ?? socketPath();
		this.busyMs = busyMs ?? 30_000;
		this.reconnectMs = reconnectMs ?? 10_000;
	}

	/** Sends any method with its params as docs/PROTOCOL.md has them. */
	call(method: Method | (string & {}), params: Map_ = {}): Promise<Map_> {
		const again = (METHODS as { [name: string]: { again: boolean } })[method]?.again ?? false;
		return this.persist(again, undefined, (connection) => connection.call(method, params));
	}

	/** Runs a program and gives its result, whether it succeeded or failed. */
	async run<T = unknown>(code: string | Uint8Array, options: RunOptions<T> = {}): Promise<Result<T>> {
		byName("run", options);
		options.signal?.throwIfAborted();
		const made = runParams(code, options);
		const waits = made instanceof Promise || options.signal !== undefined; // an abort in this tick sends nothing
		const params = waits ? await unlessAborted(Promise.resolve(made), options.signal) : made;
		// What was done by an id is not done again; but a run that others listen to has begun to answer.
		const again = params.id !== undefined && params.tools === undefined && !params.stream && !options.onEvent;
		const result = await this.persist(again, options.signal, (connection) => this.runOnce(connection, params, options));
		if (result instanceof Stopped) throw result.why;
		return finished(result, options.schema);
	}

	/** What would become of a program, which is not run. `code` may be the params of the method. */
	async check(code: string | Uint8Array | Map_ = {}, options: RunOptions = {}): Promise<Map_> {
		byName("check", options);
		const alone = typeof code === "string" || code instanceof Uint8Array;
		return this.call("check", alone ? await runParams(code, options) : code);
	}

	/** Runs a program whose events can be iterated while it goes on. */
	stream<T = unknown>(code: string | Uint8Array, options: RunOptions<T> = {}): RunStream<T> {
		byName("stream", options);
		return new RunStream<T>((all) => this.run(code, all), options);
	}

	/**
	 * Starts a run that goes on without this client; `wait` gives its result. A run that is refused
	 * before it could begin has its result at once.
	 */
	async start<T = unknown>(code: string | Uint8Array, options: RunOptions<T> = {}): Promise<Result<T> | Pending> {
		byName("start", options);
		const started = await this.run(code, { ...options, detach: true });
		if (options.schema !== undefined) this.schemas.set(started, options.schema);
		return started;
	}

	/**
	 * The result of a run when it has ended, or that it still goes on after `timeout_ms`. `run` is its
	 * id, what `start` gave, or the params of the method. A result is given back as it is.
	 */
	async wait(run: string | Map_ = {}, params: Map_ = {}): Promise<Result | Pending> {
		if (typeof run === "string") return this.wait({ run_id: run }, params);
		if (run.outcome !== undefined) return run as Result;
		const { state: _state, until_us: _until, policy: _policy, ...which } = run; // of one that was started
		const answer = await this.call("wait", { ...which, ...params });
		const schema = this.schemas.get(run);
		if (answer.outcome === undefined && schema !== undefined) this.schemas.set(answer, schema);
		return finished(answer, schema);
	}

	/** Opens a session. `language` is python unless you say otherwise. */
	async openSession(params: Map_ = {}): Promise<Session> {
		const opened = await this.call("session.open", { language: "python", ...params });
		const session = new Session(this, opened);
		this.sessions.set(session.id, session);
		return session;
	}

	/**
	 * The events of the daemon, on a connection of their own, until you leave the loop. Who awaits them
	 * first knows that they are being told.
	 */
	events(params: Map_ = {}): Promise<AsyncIterableIterator<Map_>> & AsyncIterable<Map_> {
		const told = this.subscribe(params);
		return Object.assign(told, {
			async *[Symbol.asyncIterator]() {
				yield* await told;
			},
		});
	}

	private async subscribe(params: Map_): Promise<AsyncIterableIterator<Map_>> {
		const connection = await Connection.open(this.socket);
		const queue = new Queue<Map_>(() => connection.close());
		connection.onNotice = (_, event) => queue.put(event);
		connection.onClose = () => queue.end(new ConnectionLost("the connection with the events was lost", true));
		connection.hold(1);
		await connection.call("events.subscribe", params).catch((error) => {
			connection.close();
			throw error;
		});
		return queue;
	}

	/** Sends content ahead, in parts; files of runs may then name it: `{ path, blob }`. */
	async putBlob(data: Uint8Array | string): Promise<string> {
		const bytes = Buffer.from(data as string);
		const sha256 = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
		let offset = 0;
		do {
			const part = bytes.subarray(offset, offset + PART);
			await this.call("blob.put", { data: part, sha256, offset, total: bytes.length });
			offset += part.length;
		} while (offset < bytes.length);
		return sha256;
	}

	/** The bytes of what a run left: `stdout`, `artifact:PATH` and others, a page at a time. */
	async *output(runId: string, stream: string): AsyncGenerator<Uint8Array> {
		let offset = 0;
		for (let eof = false; !eof; ) {
			const page = await this.call("runs.output", { run_id: runId, stream, offset, length: PART });
			const bytes = Buffer.from(page.data);
			if (bytes.length > 0) yield bytes;
			else if (!page.eof) await this.call("wait", { run_id: runId });
			offset += bytes.length;
			eof = page.eof;
		}
	}

	/** Closes the connection. Runs that are in flight are cancelled. */
	close(): void {
		this.closed = true;
		this.connection?.close();
	}

	async [dispose](): Promise<void> {
		this.close();
	}

	// --- connecting ---------------------------------------------------------------------------

	private async connect(signal: AbortSignal | undefined): Promise<Connection> {
		if (this.closed) throw wasClosed();
		if (this.connection?.open) return this.connection;
		this.connecting ??= this.openAgain().finally(() => (this.connecting = undefined));
		this.wanting++;
		try {
			return await unlessAborted(this.connecting, signal);
		} finally {
			this.wanting--;
		}
	}

	/** A daemon that was there may be restarting, so that is waited for, as long as somebody wants it. */
	private async openAgain(): Promise<Connection> {
		const until = Date.now() + (this.connected ? this.reconnectMs : 0);
		for (;;) {
			try {
				return this.use(await Connection.open(this.socket));
			} catch (error) {
				if (this.closed) throw wasClosed();
				if (this.wanting === 0 || Date.now() >= until) throw error;
				await sleep(100);
			}
		}
	}

	private use(connection: Connection): Connection {
		if (this.closed) {
			connection.close();
			throw wasClosed();
		}
		connection.onNotice = (method, params) => this.notice(method, params);
		this.connection = connection;
		this.connected = true;
		return connection;
	}

	private notice(method: string, params: Map_): void {
		if (method === "session.ended") {
			const session = this.sessions.get(params.session);
			if (session) session.ended = params;
			this.sessions.delete(params.session);
		} else {
			this.listeners.get(params.run_id)?.notice(method, params);
		}
	}

	// --- trying again -------------------------------------------------------------------------

	/**
	 * Sends, and sends again what nothing was done for: after `busy`, for `busyMs` at most, and after
	 * a connection that was lost, if the request did not leave or may be done twice (`again`).
	 */
	private async persist<A>(again: boolean, signal: AbortSignal | undefined,
		send: (connection: Connection) => Promise<A>): Promise<A> {
		const until = Date.now() + this.busyMs;
		for (let losses = 0; ; ) {
			try {
				return await send(this.connection?.open ? this.connection : await this.connect(signal));
			} catch (error) {
				if (error instanceof Busy) await this.pause(error, until, signal);
				else if (!(error instanceof ConnectionLost) || !this.mayRepeat(error, again, ++losses)) throw error;
			}
		}
	}

	private mayRepeat(error: ConnectionLost, again: boolean, losses: number): boolean {
		return !this.closed && this.connected && losses <= 3 && error.sent && again;
	}

	private async pause(busy: Busy, until: number, signal: AbortSignal | undefined): Promise<void> {
		const wait = Number(busy.data.retry_after_ms ?? 100) * (1 + Math.random() / 4);
		if (Date.now() + wait > until) throw busy;
		await unlessAborted(sleep(wait, undefined, { signal }), signal);
	}

	// --- one run ------------------------------------------------------------------------------

	/** Gives the answer, or what made an end to the wait for it: an error of the caller's own is never tried again. */
	private async runOnce(connection: Connection, params: Map_, options: RunOptions): Promise<Map_ | Stopped> {
		const { signal } = options;
		signal?.throwIfAborted();
		const runId: string = params.run_id ?? ulid();
		let stop: (stopped: Stopped) => void = () => undefined;
		const listener = new Listener(options, connection, (error) => {
			void connection.call("cancel", { run_id: runId }).catch(() => undefined);
			stop(new Stopped(error));
		});
		this.listeners.set(runId, listener);
		const answer = connection.call("run", { ...params, run_id: runId });
		const abort = (): void => void this.cancelled(connection, runId, answer).catch(() => stop(new Stopped(signal?.reason)));
		signal?.addEventListener("abort", abort, { once: true });
		try {
			return await new Promise((resolve, reject) => {
				stop = resolve;
				answer.then(resolve, reject);
			});
		} catch (error) {
			if (error instanceof ConnectionLost) error.runId = runId;
			if (error instanceof Conflict && error.data.pointer === "/run_id" && params.run_id === undefined)
				return this.runOnce(connection, params, options); // another run has the id that was made up
			throw error;
		} finally {
			signal?.removeEventListener("abort", abort);
			listener.end();
			this.listeners.delete(runId);
		}
	}

	/**
	 * Cancels a run. A daemon answers that at once, and then the run. Fails if it answers neither for
	 * a while. The process may then end without them.
	 */
	private async cancelled(connection: Connection, runId: string, answer: Promise<Map_>): Promise<void> {
		const over = [answer, connection.call("cancel", { run_id: runId })].map((sent) => sent.then(() => true, () => true));
		const patience = new AbortController();
		const silent = sleep(CANCEL_MS, false, { signal: patience.signal }).catch(() => true);
		const answered = await Promise.race([...over, silent]);
		patience.abort();
		if (answered) return;
		for (const sent of over) {
			connection.hold(-1);
			void sent.then(() => connection.hold(1));
		}
		throw new Error("the daemon does not answer");
	}
}

for (const method of Object.keys(METHODS).filter((name) => !["run", "check", "wait"].includes(name)))
	Object.defineProperty(Client.prototype, functionName(method), {
		value(this: Client, params: Map_ = {}) {
			if (typeof params !== "object" || params === null)
				throw new TypeError(`${functionName(method)} takes its params by name, such as { run_id: "01…" }`);
			return this.call(method, params);
		},
	});

let shared: Client | undefined;

/** Runs one program on a client that all such calls share. */
export function run<T = unknown>(code: string | Uint8Array, options: RunOptions<T> = {}): Promise<Result<T>> {
	if (shared?.socket !== socketPath()) shared = new Client();
	return shared.run(code, options);
}
