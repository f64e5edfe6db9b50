import type { Map_ } from "./methods.js";
import { said } from "./said.js";

/** The daemon answered a request with an error. A program that fails is a result, not an error. */
export class CedError extends Error {
	/** The word for programs, such as `bad_request`. */
	readonly code: string;
	/** What else the daemon says: `pointer`, `reason`, `retry_after_ms`, `run_id` and others. */
	readonly data: Map_;

	constructor(code: string, message: string, data: Map_ = {}) {
		super(message);
		this.name = new.target.name;
		this.code = code;
		this.data = data;
	}
}

/** The request breaks the contract; `data.pointer` names the key. */
export class BadRequest extends CedError {}
/** The daemon has no such method. */
export class UnknownMethod extends CedError {}
/** This caller may not do that. */
export class Forbidden extends CedError {}
/** It does not exist, or not for this caller. */
export class NotFound extends CedError {}
/** The same `id` or `run_id` came before with other content, or the state does not allow it. */
export class Conflict extends CedError {}
/** A ceiling on size was passed. */
export class TooLarge extends CedError {}
/** Nothing was done; the client has tried again for as long as `busyMs` allows. */
export class Busy extends CedError {}
/** The daemon is about to end and takes no new runs. */
export class Draining extends CedError {}
/** The daemon's own fault. */
export class Internal extends CedError {}

const CLASSES: { [code: string]: typeof CedError } = {
	bad_request: BadRequest,
	unknown_method: UnknownMethod,
	forbidden: Forbidden,
	not_found: NotFound,
	conflict: Conflict,
	too_large: TooLarge,
	busy: Busy,
	draining: Draining,
	internal: Internal,
};

/** The codes that have a class of their own. */
export const ERROR_CODES = Object.keys(CLASSES);

/** Makes the error of a response into an object of its class. A new code is a plain CedError. */
export function errorFrom(answer: Map_): CedError {
	const code = String(answer.code);
	return new (CLASSES[code] ?? CedError)(code, String(answer.message), answer.data ?? {});
}

/** There is no connection to the daemon, or it was lost before the answer came. */
export class ConnectionLost extends Error {
	/** Whether the request may have reached the daemon. If not, it can be sent again safely. */
	readonly sent: boolean;
	/** The run that was in flight, if the request was one: `wait({run_id})` says how it ended. */
	runId?: string;

	constructor(message: string, sent: boolean, cause?: unknown) {
		super(message, { cause });
		this.name = "ConnectionLost";
		this.sent = sent;
	}
}

/** This user may not use the daemon's socket. */
export class NoPermission extends ConnectionLost {
	constructor(path: string, cause?: unknown) {
		super(`you may not use the daemon's socket ${path}: its owner or group must let you\n` +
			"the host's service:  sudo adduser YOU ced   (then log in again)", false, cause);
		this.name = "NoPermission";
	}
}

/** The daemon accepted the output, and the caller's own schema object refused the value. */
export class ValueRefused extends Error {
	/** The whole result. */
	readonly result: Map_;

	constructor(result: Map_, cause: unknown) {
		super(`the schema refused the value: ${said(cause)}`, { cause });
		this.name = "ValueRefused";
		this.result = result;
	}
}
