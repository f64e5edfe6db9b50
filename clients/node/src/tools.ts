import type { Connection } from "./connection.js";
import { CedError } from "./errors.js";
import type { Map_ } from "./methods.js";
import { said } from "./said.js";
import { isParser, jsonSchema, type Schema } from "./schema.js";

/** What a tool gets beside its arguments. */
export interface CallContext {
	run_id: string;
	/** The number of the call in its run. */
	call: number;
	/** Aborts when nobody waits for the answer any more. */
	signal: AbortSignal;
}

/** A function that the program may call. */
export interface Tool {
	description?: string;
	/** Of the arguments, which are one map. */
	input: Schema<unknown>;
	output?: Schema<unknown>;
	timeout_ms?: number;
	calls?: number;
	/** It changes something: each call is recorded before it is made. */
	effects?: boolean;
	// eslint-disable-next-line @typescript-eslint/no-explicit-any
	run: (args: any, context: CallContext) => unknown;
}

/** Tools by their names. */
export type Tools = { [name: string]: Tool };

const KEYS = ["description", "input", "output", "timeout_ms", "calls", "effects", "run"]; // of Tool

/** A tool that has a wrong key, or lacks one, is an error before anything is sent. */
function mustBeTool(name: string, tool: Tool): void {
	const unknown = Object.keys(tool ?? {}).find((key) => !KEYS.includes(key));
	if (unknown !== undefined)
		throw new TypeError(`tools.${name} has no key "${unknown}"; known are: ${KEYS.join(", ")}`);
	if (typeof tool?.run !== "function")
		throw new TypeError(`tools.${name} needs a function "run", which gets the arguments as one object`);
	if (tool.input === undefined)
		throw new TypeError(`tools.${name} needs "input", a schema of its arguments, such as { type: "object" }`);
}

export const toolsParam = (tools: Tools): Map_[] =>
	Object.entries(tools).map(([name, tool]) => {
		mustBeTool(name, tool);
		const { input, output, run: _, ...rest } = tool;
		return {
			name,
			...rest,
			input_schema: jsonSchema(input),
			output_schema: output === undefined ? undefined : jsonSchema(output),
		};
	});

const parsed = (schema: Schema<unknown> | undefined, value: unknown): unknown =>
	isParser(schema) ? schema.parse(value) : value;

/** An error for the program. Half a surrogate pair cannot be sent: it becomes U+FFFD. */
const failed = (message: string): Map_ => ({ error: { message: Buffer.from(message.slice(0, 8000)).toString() } });

async function answer(tool: Tool | undefined, call: Map_, signal: AbortSignal): Promise<Map_> {
	try {
		if (!tool) throw new Error(`this client offers no tool ${call.tool}`);
		const context = { run_id: call.run_id, call: call.call, signal };
		const result = parsed(tool.output, await tool.run(parsed(tool.input, call.args), context));
		return { result: result === undefined ? null : result };
	} catch (error) {
		return failed(said(error));
	}
}

/** The calls of one run: each is answered once, and aborted when nobody waits for it. */
export class Calls {
	private readonly open = new Map<number, AbortController>();

	constructor(private readonly tools: Tools, private readonly connection: Connection) {}

	/** A program calls a tool. */
	async made(call: Map_): Promise<void> {
		const controller = new AbortController();
		this.open.set(call.call, controller);
		const reply = await answer(this.tools[call.tool], call, controller.signal);
		this.open.delete(call.call);
		if (controller.signal.aborted || !this.connection.open) return;
		await this.reply({ run_id: call.run_id, call: call.call }, reply);
	}

	/** Nobody waits for this call any more. */
	over(call: Map_): void {
		this.open.get(call.call)?.abort(new Error(`the call is over: ${call.why}`));
	}

	/** Nobody waits for any of them any more. */
	end(): void {
		for (const controller of this.open.values()) controller.abort(new Error("the run has ended"));
	}

	/** A result that cannot be sent, or that the daemon refuses, becomes an error for the program. */
	private async reply(which: Map_, reply: Map_): Promise<void> {
		try {
			await this.connection.call("call.reply", { ...which, ...reply });
		} catch (error) {
			if (reply.error || !this.connection.open) return;
			const why = error instanceof CedError ? error.message : String(error);
			await this.reply(which, failed(`the tool's result cannot be sent: ${why}`));
		}
	}
}
