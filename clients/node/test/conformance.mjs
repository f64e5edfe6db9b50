// Runs the cases that all clients share: node conformance.mjs FILE.json...  Prints TAP.
import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";

import { CedError, Client, functionName } from "ced";

const isMap = (value) => typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
const isInt = (value) => typeof value === "bigint" || Number.isInteger(value);
const TYPES = {
	string: (value) => typeof value === "string", int: isInt, bool: (value) => typeof value === "boolean",
	number: (value) => typeof value === "number" || typeof value === "bigint",
	list: Array.isArray, map: isMap, bytes: (value) => value instanceof Uint8Array, null: (value) => value === null,
};
const bytes = (value) => (typeof value === "string" || value instanceof Uint8Array ? Buffer.from(value) : undefined);
const SPECIAL = {
	$any: (_, value) => value !== undefined,
	$absent: (_, value) => value === undefined,
	$type: (words, value) => words.split("|").some((word) => TYPES[word](value)),
	$matches: (regex, value) => typeof value === "string" && new RegExp(regex, "u").test(value),
	$contains: (text, value) => typeof value === "string" && value.includes(text),
	$bytes: (base64, value) => bytes(value)?.equals(Buffer.from(base64, "base64")) ?? false,
	$min: (least, value) => TYPES.number(value) && value >= least,
	$each: (pattern, value) => Array.isArray(value) && value.every((item) => matches(pattern, item)),
};

/** The word of a pattern that is a special map with one key. */
const special = (pattern) => {
	const keys = isMap(pattern) ? Object.keys(pattern) : [];
	return keys.length === 1 && keys[0].startsWith("$") ? keys[0] : undefined;
};

function matches(pattern, value) {
	const word = special(pattern);
	if (word) {
		if (!SPECIAL[word]) throw new Error(`there is no pattern ${word}`);
		return SPECIAL[word](pattern[word], value);
	}
	if (Array.isArray(pattern))
		return Array.isArray(value) && value.length === pattern.length && pattern.every((item, i) => matches(item, value[i]));
	if (isMap(pattern)) return isMap(value) && Object.entries(pattern).every(([key, item]) => matches(item, value[key]));
	return isDeepStrictEqual(pattern, value);
}

/** The params with what was saved, and with bytes. */
function filled(params, saved) {
	if (Array.isArray(params)) return params.map((item) => filled(item, saved));
	if (!isMap(params)) return params;
	const word = special(params);
	if (word === "$saved") return saved[params.$saved];
	if (word === "$bytes") return Buffer.from(params.$bytes, "base64");
	return Object.fromEntries(Object.entries(params).map(([key, item]) => [key, filled(item, saved)]));
}

const pointed = (value, pointer) => pointer.split("/").slice(1).reduce((at, key) => at?.[key.replace(/~1/g, "/").replace(/~0/g, "~")], value);

/** The events of the cases: adjacent pieces of one stream are one, as text if all of it is UTF-8. */
function joined(events) {
	const list = [];
	for (const { text: _text, ...event } of events) {
		const last = list.at(-1);
		if (event.type === "started") continue;
		if (event.type === "output" && last?.type === "output" && last.stream === event.stream)
			last.data = Buffer.concat([last.data, event.data]);
		else list.push({ ...event });
	}
	for (const event of list)
		if (event.type === "output" && isUtf8(event.data)) event.data = Buffer.from(event.data).toString();
	return list;
}

function tools(offered, calls) {
	return Object.fromEntries(offered.map(({ name, about, params, result, answers }) => {
		let count = 0;
		const run = (args) => {
			calls.push({ tool: name, args });
			const answer = answers[Math.min(count++, answers.length - 1)];
			if ("error" in answer) throw new Error(answer.error);
			return answer.result;
		};
		return [name, { description: about, input: params ?? true, output: result, run }];
	}));
}

async function runStep(client, step, params, calls, events) {
	const { code, ...options } = params;
	if (step.tools) options.tools = tools(step.tools, calls);
	if (!step.events && !step.cancel_when) return client.run(code, options);
	const stream = client.stream(code, options);
	const result = stream.result;
	result.catch(() => undefined);
	for await (const event of stream) {
		events.push(event);
		if (step.cancel_when && joined(events).some((item) => matches(step.cancel_when, item))) stream.cancel();
	}
	return result;
}

function expect(what, pattern, value) {
	const shown = (item) => JSON.stringify(item, (_, part) => (typeof part === "bigint" ? String(part) : part));
	if (pattern !== undefined && !matches(pattern, value))
		throw new Error(`${what}: wanted ${shown(pattern)}, got ${shown(value)?.slice(0, 2000)}`);
}

async function play(client, step, saved) {
	const params = filled(step.params ?? {}, saved);
	const [calls, events] = [[], []];
	let result, error;
	try {
		result = step.call === "run" ? await runStep(client, step, params, calls, events) : await client[functionName(step.call)](params);
	} catch (thrown) {
		if (!(thrown instanceof CedError) || !step.error) throw thrown;
		error = { code: thrown.code, message: thrown.message, data: thrown.data };
	}
	if (step.error && !error) throw new Error(`wanted an error, got a result with the outcome ${result?.outcome}`);
	expect("error", step.error, error);
	expect("result", step.result, result);
	expect("events", step.events, joined(events));
	expect("calls", step.calls, calls);
	for (const [name, pointer] of Object.entries(step.save ?? {})) saved[name] = pointed(result, pointer);
}

let count = 0;
const runtimes = (await new Client().runtimes()).runtimes.map((runtime) => runtime.name);
for (const file of process.argv.slice(2)) {
	for (const { name, needs = [], steps } of JSON.parse(readFileSync(file, "utf8")).cases) {
		count++;
		const missing = needs.find((need) => !runtimes.includes(need));
		if (missing) {
			console.log(`ok ${count} - ${name} # SKIP this daemon has no runtime ${missing}`);
			continue;
		}
		const client = new Client();
		const saved = {};
		try {
			for (const step of steps) await play(client, step, saved);
			console.log(`ok ${count} - ${name}`);
		} catch (error) {
			process.exitCode = 1;
			console.log(`not ok ${count} - ${name}\n# ${error.message}`);
		}
		client.close();
	}
}
console.log(`1..${count}`);
