import { createConnection, type Socket } from "node:net";

import { Core, type Incoming } from "./core.js";
import { ConnectionLost, errorFrom } from "./errors.js";
import type { Map_ } from "./methods.js";

interface Waiting {
	resolve: (result: Map_) => void;
	reject: (error: Error) => void;
}

/** One connection to the daemon. When it is lost, everything that waits fails with ConnectionLost. */
export class Connection {
	private readonly core = new Core();
	private readonly waiting = new Map<number, Waiting>();
	private cause: Error | undefined;
	private held = 0;
	/** Gets each notification. */
	onNotice: (method: string, params: Map_) => void = () => undefined;
	/** Is called once, when the connection is gone. */
	onClose: () => void = () => undefined;

	private constructor(private readonly socket: Socket) {
		socket.unref();
		socket.on("data", (chunk: Buffer) => this.take(chunk));
		socket.on("error", (error) => (this.cause ??= error));
		socket.on("close", () => this.closed());
	}

	/** Connects to the socket at `path`. */
	static open(path: string): Promise<Connection> {
		return new Promise((resolve, reject) => {
			const socket = createConnection({ path });
			socket.once("error", (error) =>
				reject(new ConnectionLost(`cannot connect to ced at ${path}: ${error.message}. ` +
					"Start the daemon, or set CED_SOCKET to the path of its socket.", false, error)));
			socket.once("connect", () => {
				socket.removeAllListeners("error");
				resolve(new Connection(socket));
			});
		});
	}

	get open(): boolean {
		return !this.socket.destroyed && this.cause === undefined;
	}

	/** Sends a request; the promise has the result, or fails with the error of the protocol. */
	call(method: string, params: Map_): Promise<Map_> {
		return new Promise((resolve, reject) => {
			if (!this.open) {
				reject(new ConnectionLost("the connection to ced is closed", false, this.cause));
				return;
			}
			const { msgid, bytes } = this.core.request(method, params);
			this.waiting.set(msgid, { resolve, reject });
			this.hold(1);
			this.socket.write(bytes);
		});
	}

	/** While something is expected on this connection, the process does not end for lack of work. */
	hold(change: 1 | -1): void {
		this.held += change;
		if (this.held > 0) this.socket.ref();
		else this.socket.unref();
	}

	close(): void {
		this.cause ??= new Error("the client closed it");
		this.socket.destroy();
	}

	private take(chunk: Buffer): void {
		try {
			for (const message of this.core.feed(chunk)) this.deliver(message);
		} catch (error) {
			this.cause ??= error as Error;
			this.socket.destroy();
		}
	}

	private deliver(message: Incoming): void {
		if (message.kind === "notice") {
			this.onNotice(message.method, message.params);
			return;
		}
		const waiting = this.waiting.get(message.msgid);
		if (!waiting) return;
		this.waiting.delete(message.msgid);
		this.hold(-1);
		if (message.error) waiting.reject(errorFrom(message.error));
		else waiting.resolve(message.result);
	}

	private closed(): void {
		this.cause ??= new Error("the daemon closed it");
		for (const waiting of this.waiting.values())
			waiting.reject(new ConnectionLost(`the connection to ced was lost: ${this.cause.message}`, true, this.cause));
		this.waiting.clear();
		this.onClose();
	}
}
