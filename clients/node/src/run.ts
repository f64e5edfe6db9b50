import type { Connection } from "./connection.js";
import { ValueRefused } from "./errors.js";
import { filesParam, type Files } from "./files.js";
import type { Map_ } from "./methods.js";
import { Queue } from "./queue.js";
import { isParser, jsonSchema, type Schema } from "./schema.js";
import { Calls, toolsParam, type Tools } from "./tools.js";

/** The exception or syntax error of a program, with its place. */
export interface ProgramError {
	type: string;
	message: string;
	file?: string;
	line?: number;
	column?: number;
	frames?: Map_[];
	text?: string;
	syntax?: boolean;
}

/** What a rule of the policy found, and where. */
export interface Finding {
	rule: string;
	severity: string;
	line: number;
	column: number;
	text: string;
	message: string;
	hint?: string;
}

/** What the policy said. */
export interface Verdict {
	name: string;
	decision: string;
	digest?: string;
	findings: Finding[];
}

/** A file that the run left and that one of the globs in `artifacts` named. */
export interface Artifact {
	path: string;
	bytes: number;
	sha256: string;
	mime?: string;
	mode: number;
	data: string | Uint8Array;
	truncated?: boolean;
}

/** One thing that the program showed, in one or more media types. */
export interface Display {
	main: boolean;
	data: Map_;
}

/** Where a session stands after one of its cells. */
export interface Cell {
	id: string;
	cell: number;
	state: number | null;
	kept: number[];
	went_back?: number;
	/** Why the session has ended with this cell. */
	why?: string;
}

/**
 * The result of a run, with the keys of docs/PROTOCOL.md. The first ones are always there. An optional key
 * may also be null. A daemon that is newer may send more keys.
 */
export interface Result<T = unknown> extends Map_ {
	run_id: string;
	outcome: string;
	ok: boolean;
	reason: string;
	ran: "no" | "yes" | "unknown";
	stdout: string | Uint8Array;
	stderr: string | Uint8Array;
	exit_code?: number | null;
	signal?: string | null;
	error?: ProgramError | null;
	policy?: Verdict | null;
	artifacts?: Artifact[];
	display?: Display[];
	session?: Cell;
	truncated?: string[];
	metrics?: Map_;
	limits?: Map_;
	budget?: Map_ | null;
	approval?: Map_ | null;
	cached?: boolean;
	trace?: Map_[] | null;
	/** stdout as text; what is no text in it becomes U+FFFD. */
	readonly text: string;
	/** The parsed output, with `schema` or `output: "json"`. */
	value?: T;
}

/** A run that has not ended, as `start` and `wait` give it. */
export interface Pending extends Map_ {
	run_id: string;
	/** Absent if it was started a moment ago. */
	state?: "running" | "parked";
}

/** What happens while a run goes on. */
export type RunEvent =
	| { type: "started"; run_id: string }
	/** A piece of output. `text` ends at a whole character; the bytes are in `data`. */
	| { type: "output"; stream: "stdout" | "stderr"; offset: number; data: Uint8Array; text: string }
	| { type: "display"; main: boolean; data: Map_ }
	/** The run waits for a person to approve it, or one call of a tool does. */
	| { type: "parked"; run_id: string; until_us: number; policy: Map_; call?: number; tool?: string; rule?: string }
	| { type: "call"; call: number; tool: string; args: Map_ };

/** The params of `run` in docs/PROTOCOL.md that travel as they are. */
export interface RunParams {
	language?: string;
	entrypoint?: string;
	args?: string[];
	stdin?: string | Uint8Array;
	/** Any value, as one JSON document on stdin. */
	input?: unknown;
	env?: { [name: string]: string };
	/** Such as `{ wall_ms: 5000, memory_bytes: 256 << 20 }`. */
	limits?: { [name: string]: number };
	on_output_limit?: "kill" | "truncate";
	/** Globs of the files that come back. */
	artifacts?: string[];
	packages?: string[];
	session?: string;
	from?: number;
	atomic?: boolean;
	policy?: string;
	network?: "denied" | Map_;
	output?: "text" | "json";
	id?: string;
	run_id?: string;
	task?: string;
	agent?: string;
	labels?: { [name: string]: string };
	secrets?: string[];
	trace?: "steps" | "files" | "off";
	deterministic?: boolean;
	tools_as?: "module" | "functions" | "async";
	display?: boolean;
	cache?: "off" | "use" | "refresh";
	stream?: boolean;
	announce?: boolean;
	detach?: boolean;
}

/** What a run may ask for: params of the protocol, and what only this client knows. */
export interface RunOptions<T = unknown> extends RunParams {
	files?: Files;
	/** JSON Schema of the output, or a schema of zod 4, which then parses `value`. */
	schema?: Schema<T>;
	tools?: Tools;
	/** Cancels the run. Its result then has the outcome `canceled`. Before the run was sent, its reason is thrown. */
	signal?: AbortSignal;
	/**
	 * Is called when the run, or a call of a tool, must wait for a person. Without it, the process warns.
	 * If it throws, the run is cancelled, and `run` throws the same.
	 */
	onParked?: (parked: Map_) => void;
	/** Is called for each event, also of the output. If it throws, the run is cancelled, and `run` throws the same. */
	onEvent?: (event: RunEvent) => void;
}

/** Options that are no object are a mistake, such as run(code, "javascript"). */
export function byName(call: string, options: unknown): void {
	if (typeof options !== "object" || options === null)
		throw new TypeError(`${call} takes options by name: ` +
			`${call}(code, { language: ${JSON.stringify(typeof options === "string" ? options : "python")} })`);
}

/** Options that other packages have, and what does that here. */
const FOREIGN: { [name: string]: string } = {
	timeout: "limits: { wall_ms: MILLISECONDS } bounds the time",
	wall_ms: "limits: { wall_ms: MILLISECONDS } bounds the time",
	cpu_ms: "limits: { cpu_ms: MILLISECONDS } bounds the cpu time",
	memory_bytes: "limits: { memory_bytes: BYTES } bounds the memory",
};

/** The params as the protocol wants them; a promise only where files must be read first. */
export function runParams(code: string | Uint8Array, options: RunOptions): Map_ | Promise<Map_> {
	const { signal: _signal, onParked: _parked, onEvent, files, schema, tools, ...rest } = options;
	const params: Map_ = onEvent ? { stream: true, announce: true, ...rest } : rest;
	const foreign = Object.keys(FOREIGN).find((key) => params[key] !== undefined);
	if (foreign !== undefined) throw new TypeError(`a run has no option "${foreign}": ${FOREIGN[foreign]}`);
	const callback = Object.keys(params).find((key) => typeof params[key] === "function");
	if (callback !== undefined)
		throw new TypeError(`no option "${callback}" takes a function: pass onEvent, or loop over client.stream(code)`);
	if (params.language === undefined && params.session === undefined) params.language = "python";
	params.code = code;
	if (schema !== undefined) params.schema = jsonSchema(schema);
	if (tools !== undefined) params.tools = toolsParam(tools);
	return files === undefined ? params : filesParam(files).then((given) => ({ ...params, files: given }));
}

const TEXT: PropertyDescriptor & ThisType<Result> = {
	get() {
		return typeof this.stdout === "string" ? this.stdout : new TextDecoder().decode(this.stdout);
	},
	configurable: true,
};

/** The result with its text, and its value parsed by the caller's schema. A run that goes on has neither. */
export function finished<T>(result: Map_, schema: Schema<T> | undefined): Result<T> {
	if (result.outcome === undefined) return result as Result<T>;
	Object.defineProperty(result, "text", TEXT);
	if (!isParser(schema) || !result.ok) return result as Result<T>;
	try {
		const value = schema.parse(result.value);
		return Object.defineProperty({ ...result, value }, "text", TEXT) as unknown as Result<T>;
	} catch (error) {
		throw new ValueRefused(result, error);
	}
}

/** Gives each notification about one run to those who asked for it. */
export class Listener {
	private readonly decoders: { [stream: string]: InstanceType<typeof TextDecoder> } = {};
	private made: Calls | undefined; // most programs call no tool
	private over = false;
	private threw = false;

	/** `failed` gets what a function of the caller threw. Nothing is called after it. */
	constructor(private readonly options: RunOptions, private readonly connection: Connection,
		private readonly failed: (error: unknown) => void) {}

	private get calls(): Calls {
		return (this.made ??= new Calls(this.options.tools ?? {}, this.connection));
	}

	private static readonly notices: { [method: string]: (its: Listener, params: Map_) => void } = {
		"run.started": (its, params) => its.event({ type: "started", run_id: params.run_id }),
		"run.output": (its, params) => its.output(params),
		"run.display": (its, params) => its.event({ type: "display", main: params.main, data: params.data }),
		"run.parked": (its, { run_id, until_us, policy }) => its.parked({ run_id, until_us, policy }),
		"run.call_asked": (its, { policy, ...call }) => its.parked({ ...call, policy: { name: policy } }),
		"run.call": (its, params) => {
			its.event({ type: "call", call: params.call, tool: params.tool, args: params.args });
			void its.calls.made(params);
		},
		"run.call_over": (its, params) => its.calls.over(params),
	};

	notice(method: string, params: Map_): void {
		if (this.over) return;
		try {
			Listener.notices[method]?.(this, params);
		} catch (error) {
			this.fail(error);
		}
	}

	end(): void {
		this.over = true;
		this.made?.end();
	}

	private fail(error: unknown): void {
		if (this.threw) return;
		this.threw = true;
		this.end();
		this.failed(error);
	}

	/** Sees what a function of the caller gave: an async one fails later. After the run, node reports that. */
	private watch(given: unknown): void {
		if (given instanceof Promise)
			given.catch((error) => {
				if (this.over && !this.threw) throw error;
				this.fail(error);
			});
	}

	private event(event: RunEvent): void {
		this.watch(this.options.onEvent?.(event));
	}

	private output({ stream, offset, data }: Map_): void {
		const bytes: Uint8Array = typeof data === "string" ? Buffer.from(data) : data;
		const decoder = (this.decoders[stream] ??= new TextDecoder());
		this.event({ type: "output", stream, offset, data: bytes, text: decoder.decode(bytes, { stream: true }) });
	}

	private parked(waits: Map_): void {
		this.event({ type: "parked", ...waits } as RunEvent);
		if (this.options.onParked) this.watch(this.options.onParked(waits));
		else if (!this.options.onEvent)
			process.emitWarning(`${waits.call ? `call ${waits.call} of ${waits.tool} by ` : ""}the run ${waits.run_id} waits ` +
				`until a person approves it (policy ${waits.policy?.name}); pass onParked to handle this`, { type: "CedParked" });
	}
}

/** A run whose events can be iterated while it goes on. */
export class RunStream<T = unknown> implements AsyncIterable<RunEvent> {
	private readonly controller = new AbortController();
	private readonly events = new Queue<RunEvent>(() => this.cancel());
	/** The result. Leaving the loop over the events before their end cancels the run. */
	readonly result: Promise<Result<T>>;

	constructor(start: (options: RunOptions<T>) => Promise<Result<T>>, options: RunOptions<T>) {
		const cancel = (): void => this.controller.abort(options.signal?.reason);
		options.signal?.addEventListener("abort", cancel, { once: true });
		if (options.signal?.aborted) cancel();
		this.result = start({
			...options,
			signal: this.controller.signal,
			onEvent: (event) => {
				this.events.put(event);
				return options.onEvent?.(event);
			},
		});
		this.result
			.finally(() => options.signal?.removeEventListener("abort", cancel))
			.then(() => this.events.end(), (error) => this.events.end(error));
	}

	/** Cancels the run; its result then has the outcome `canceled`. */
	cancel(): void {
		this.controller.abort();
	}

	[Symbol.asyncIterator](): AsyncIterableIterator<RunEvent> {
		return this.events;
	}
}
