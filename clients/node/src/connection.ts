import { createConnection, type Socket } from "node:net";

import { Core, type Incoming } from "./core.js";
import { ConnectionLost, errorFrom, NoPermission } from "./errors.js";
import type { Map_ } from "./methods.js";
import { socketPlaces } from "./places.js";
import { said } from "./said.js";

interface Waiting {
	resolve: (result: Map_) => void;
	reject: (error: Error) => void;
}

/** The sockets that were tried, why each failed, and what to type. */
function nobodyAt(path: string, error: NodeJS.ErrnoException): string {
	const why = (place: string): string => (place === path ? error.message : "there is no such file");
	const places = socketPlaces();
	const tried = places.includes(path) ? places : [path];
	return `no daemon answers. These sockets were tried:\n${tried.map((place) => `  ${place}: ${why(place)}\n`).join("")}` +
		"the host's service:  sudo systemctl start ced\n" +
		"a private daemon:    ./dev run   (in the source folder)\n" +
		"another socket:      export CED_SOCKET=PATH, or new Client(\"PATH\")";
}

/** Calls a function of the connection's owner. All requests share the connection, so its error ends none of them. */
function guarded(name: string, call: () => void): void {
	try {
		call();
	} catch (error) {
		process.emitWarning(`the function ${name} of a connection to ced threw an error, and the connection goes on: ${said(error)}`,
			{ type: "CedCallback", detail: error instanceof Error ? error.stack : undefined });
	}
}

/** One connection to the daemon. When it is lost, everything that waits fails with ConnectionLost. */
export class Connection {
	private readonly core = new Core();
	private readonly waiting = new Map<number, Waiting>();
	private cause: Error | undefined;
	private held = 0;
	/** Gets each notification. If it throws, the process warns, and the connection goes on. */
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
			socket.once("error", (error: NodeJS.ErrnoException) =>
				reject(error.code === "EACCES" || error.code === "EPERM" ? new NoPermission(path, error)
					: new ConnectionLost(nobodyAt(path, error), false, error)));
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
			guarded("onNotice", () => this.onNotice(message.method, message.params));
			return;
		}
		const waiting = this.waiting.get(message.msgid);
		if (!waiting) return;
		this.waiting.delete(message.msgid);
		this.hold(-1);
		if (!message.error) {
			waiting.resolve(message.result);
			return;
		}
		waiting.reject(errorFrom(message.error));
	}

	private closed(): void {
		this.cause ??= new Error("the daemon closed it");
		const lost = new ConnectionLost(`the connection to ced was lost: ${this.cause.message}`, true, this.cause);
		for (const waiting of this.waiting.values()) waiting.reject(lost);
		this.waiting.clear();
		guarded("onClose", () => this.onClose());
	}
}
