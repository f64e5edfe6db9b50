// The client against a stand-in for a daemon: callbacks that throw, values that cannot be sent, and signals.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import { decodeMulti, encode } from "@msgpack/msgpack";
import * as ced from "ced";

const folder = mkdtempSync(join(tmpdir(), "ced-faults-"));
const RESULT = { run_id: "01M8DZGWTJSGN5T38QZZZZZZZZ", outcome: "ok", ok: true, reason: "", ran: "yes", stdout: "", stderr: "" };
const PARKED = { until_us: 1, policy: { name: "review" } };
let count = 0;

/** A daemon that does with each request what `serve` says. It notes what came. */
async function daemon(t, serve) {
	const path = join(folder, `${count++}.sock`);
	const its = { path, came: [], sockets: new Set(), connections: 0, client: new ced.Client({ socket: path, reconnectMs: 20_000 }) };
	const server = createServer((socket) => {
		its.sockets.add(socket);
		its.connections++;
		const send = (message) => socket.destroyed || socket.write(encode(message));
		socket.on("error", () => undefined).on("close", () => its.sockets.delete(socket));
		socket.on("data", (chunk) => {
			for (const [, msgid, method, [params]] of decodeMulti(chunk)) {
				its.came.push({ method, params });
				serve({ method, params, socket, reply: (result) => send([1, msgid, null, result]),
					fail: (error) => send([1, msgid, error, null]), tell: (what, more) => send([2, what, [{ run_id: params.run_id, ...more }]]) });
			}
		});
	});
	its.end = () => {
		server.close();
		for (const socket of its.sockets) socket.destroy();
	};
	its.methods = () => its.came.map(({ method }) => method);
	t.after(() => { its.client.close(); its.end(); });
	await once(server.listen(path), "listening");
	return its;
}

/** What a promise became, and after how many milliseconds. */
async function timed(promise) {
	const began = Date.now();
	const error = await promise.then((value) => assert.fail(`it gave ${JSON.stringify(value)}`), (reason) => reason);
	return { error, ms: Date.now() - began };
}

/** Runs of the program "loud" have events and no answer; other runs are answered when one was cancelled. */
async function loudDaemon(t) {
	const patient = [];
	return daemon(t, ({ method, params, reply, tell }) => {
		if (method === "cancel") {
			reply({});
			for (const answer of patient.splice(0)) answer(RESULT);
		} else if (params.code === "loud") {
			tell("run.started", {});
			tell("run.output", { stream: "stdout", offset: 0, data: "x" });
			tell("run.parked", PARKED);
			tell("run.call", { call: 1, tool: "f", args: {} });
		} else {
			patient.push(reply);
		}
	});
}

for (const [name, options] of [
	["onEvent", { onEvent: () => { throw new Error("mine"); } }],
	["onParked", { onParked: () => { throw new Error("mine"); } }],
	["an async onEvent", { onEvent: async () => { throw new Error("mine"); } }],
	["an async onParked", { onParked: async () => { throw new Error("mine"); } }],
	["onEvent of a stream", { stream: true, onEvent: () => { throw new Error("mine"); } }],
]) {
	test(`${name} that throws ends its own run and no other`, async (t) => {
		const { client, came } = await loudDaemon(t);
		const innocent = client.run("innocent");
		const throwing = options.stream ? client.stream("loud", options).result : client.run("loud", options);
		await assert.rejects(throwing, /^Error: mine$/);
		assert.equal((await innocent).outcome, "ok");
		const loud = came.find(({ params }) => params.code === "loud").params.run_id;
		assert.deepEqual(came.filter(({ method }) => method === "cancel").map(({ params }) => params.run_id), [loud]);
	});
}

test("a callback that throws is called once, its run's tools are not called any more, and nothing is sent again", async (t) => {
	const { client, methods } = await loudDaemon(t);
	const busy = new ced.Busy("busy", "mine", { retry_after_ms: 1 });
	let calls = 0, called = 0;
	const onEvent = () => { calls++; throw busy; };
	const tools = { f: { input: true, run: () => called++ } };
	await assert.rejects(client.run("loud", { id: "once", onEvent, tools }), (error) => error === busy);
	await client.cancel({ run_id: "another" });
	assert.deepEqual([calls, called], [1, 0]);
	assert.deepEqual(methods(), ["run", "cancel", "cancel"]);
});

test("a function of a whole connection that throws makes the process warn, and the connection goes on", async (t) => {
	const { path, end } = await daemon(t, ({ reply, tell }) => { tell("told", {}); reply({ well: true }); });
	const warnings = [];
	const listen = (warning) => warning.name === "CedCallback" && warnings.push(warning.message);
	process.on("warning", listen);
	t.after(() => process.off("warning", listen));
	const connection = await ced.Connection.open(path);
	connection.onNotice = () => { throw new Error("mine"); };
	connection.onClose = () => { throw { no: "text" }; };
	assert.deepEqual(await connection.call("hello", {}), { well: true });
	assert.ok(connection.open);
	end();
	while (connection.open || warnings.length < 2) await sleep(5);
	assert.deepEqual(warnings, [
		"the function onNotice of a connection to ced threw an error, and the connection goes on: mine",
		"the function onClose of a connection to ced threw an error, and the connection goes on: { no: 'text' }",
	]);
});

test("a value that the protocol has no form for is refused with the name of its key, and nothing is sent", async (t) => {
	const { client, came } = await daemon(t, ({ reply }) => reply(RESULT));
	const itself = [];
	itself.push(itself, itself);
	for (const [input, said] of [
		[2n ** 64n, /^RangeError: \/input is the integer 18446744073709551616, which does not fit into 64 bits/],
		[{ a: [1, -(2n ** 63n) - 1n] }, /^RangeError: \/input\/a\/1 is the integer -9223372036854775809, which/],
		[{ "a/b": { "~": 2n ** 80n } }, /^RangeError: \/input\/a~1b\/~0 is the integer 1208925819614629174706176, which/],
		[[new Map([["a", 1]])], /^TypeError: \/input\/0 is a Map: give an object, such as Object.fromEntries\(map\)$/],
		[{ a: new Set([1]) }, /^TypeError: \/input\/a is a Set: give an array, such as \[...set\]$/],
		[new Date(), /^TypeError: \/input is a Date/],
		[/x/, /^TypeError: \/input is a RegExp/],
		[Promise.resolve(1), /^TypeError: \/input is a Promise: await it first$/],
		[new ArrayBuffer(2), /^TypeError: \/input is an ArrayBuffer/],
		[[() => 1], /^TypeError: \/input\/0 is a function, which cannot be sent$/],
		[itself, /^TypeError: \/input nests deeper than \d+ levels, or holds itself$/],
	]) await assert.rejects(client.run("1", { input }), said);
	assert.deepEqual(came, []);
	const good = [2n ** 64n - 1n, -(2n ** 63n), 0n, new Uint8Array([1]), null, { a: Object.create(null), none: undefined }];
	await client.run("1", { input: good });
	assert.equal(came.length, 1);
	assert.deepEqual([...came[0].params.input[3]], [1]);
});

test("a result of a tool that cannot be sent is an error for the program", async (t) => {
	const replies = [];
	const { client } = await daemon(t, ({ method, params, reply, tell }) => {
		if (method === "call.reply") {
			reply({});
			if (replies.push(params) === 4) done(RESULT);
			return;
		}
		done = reply;
		for (const [at, tool] of ["large", "map", "fits", "bare"].entries()) tell("run.call", { call: at + 1, tool, args: {} });
	});
	let done;
	const of = (value) => ({ input: true, run: () => value });
	const bare = { input: true, run: () => { throw Object.create(null); } };
	await client.run("1", { tools: { large: of({ n: 2n ** 80n }), map: of(new Map()), fits: of(7n), bare } });
	replies.sort((a, b) => a.call - b.call);
	assert.match(replies[0].error.message, /^the tool's result cannot be sent: RangeError: \/result\/n is the integer 1208925819614629174706176/);
	assert.match(replies[1].error.message, /^the tool's result cannot be sent: TypeError: \/result is a Map/);
	assert.equal(replies[2].result, 7);
	assert.match(replies[3].error.message, /null prototype/);
});

test("a signal and cancel() take effect at once while the client connects again", async (t) => {
	const its = await daemon(t, ({ reply }) => reply(RESULT));
	await its.client.run("1");
	its.end();
	await sleep(50);
	const reason = new Error("enough");
	const controller = new AbortController();
	const others = its.client.run("1").catch((error) => error);
	setTimeout(() => controller.abort(reason), 100);
	for (const run of [its.client.run("1", { signal: controller.signal }), its.client.stream("1", { signal: controller.signal }).result]) {
		const { error, ms } = await timed(run);
		assert.equal(error, reason);
		assert.ok(ms < 5000, `${ms} ms`);
	}
	const stream = its.client.stream("1");
	setTimeout(() => stream.cancel(), 100);
	const { error, ms } = await timed((async () => { for await (const _ of stream); })());
	assert.deepEqual([error.name, ms < 5000], ["AbortError", true]);
	its.client.close();
	assert.match((await others).message, /^this client was closed$/, "it is not said that no daemon answers");
});

test("a signal and cancel() take effect at once while the client waits to ask again", async (t) => {
	const { client, methods } = await daemon(t, ({ fail }) => fail({ code: "busy", message: "full", data: { retry_after_ms: 20_000 } }));
	const reason = new Error("enough");
	const controller = new AbortController();
	setTimeout(() => controller.abort(reason), 200);
	const one = await timed(client.run("1", { signal: controller.signal }));
	assert.deepEqual([one.error, one.ms < 5000], [reason, true]);
	const stream = client.stream("1");
	setTimeout(() => stream.cancel(), 200);
	const two = await timed(stream.result);
	assert.deepEqual([two.error.name, two.ms < 5000], ["AbortError", true]);
	assert.deepEqual(methods(), ["run", "run"]);
});

test("a signal and cancel() end a run of a daemon that does not answer, and others go on", async (t) => {
	let last;
	const { client, methods } = await daemon(t, ({ params, reply }) => { if (params.code === "last") last = reply; });
	const reason = new Error("enough");
	const controller = new AbortController();
	const other = client.run("last");
	const stream = client.stream("1");
	const running = [client.run("1", { signal: controller.signal }), stream.result].map(timed);
	setTimeout(() => { controller.abort(reason); stream.cancel(); }, 100);
	const [one, two] = await Promise.all(running);
	assert.deepEqual([one.error, one.ms < 8000], [reason, true]);
	assert.deepEqual([two.error.name, two.ms < 8000], ["AbortError", true]);
	assert.deepEqual(methods(), ["run", "run", "run", "cancel", "cancel"]);
	last(RESULT);
	assert.equal((await other).outcome, "ok");
});

test("a daemon that answers the cancel has all the time that the run needs to end", async (t) => {
	const { client } = await daemon(t, ({ method, reply }) => {
		if (method === "cancel") reply({});
		else setTimeout(() => reply({ ...RESULT, ok: false, outcome: "canceled" }), 3000);
	});
	const controller = new AbortController();
	setTimeout(() => controller.abort(), 100);
	assert.equal((await client.run("1", { signal: controller.signal })).outcome, "canceled");
});

test("a signal takes effect while the content of a file is still read", async (t) => {
	const { client, came } = await daemon(t, ({ reply }) => reply(RESULT));
	const endless = { async *[Symbol.asyncIterator]() { await sleep(20_000, undefined, { ref: false }); } };
	const { error, ms } = await timed(client.run("1", { files: { a: endless }, signal: AbortSignal.timeout(100) }));
	assert.deepEqual([error.name, ms < 5000, came], ["TimeoutError", true, []]);
});

test("a process whose run was aborted ends, though the daemon never answers or is gone", async (t) => {
	const its = await daemon(t, ({ params, socket, reply }) => {
		if (params.code === "first") reply(RESULT);
		if (params.code === "gone") its.end();
	});
	const program = `import { Client } from "ced";
		const client = new Client({ socket: process.argv[1], reconnectMs: 60000 });
		await client.run("first");
		for (const code of ["silent", "gone", "none"])
			await client.run(code, { signal: AbortSignal.timeout(500) }).catch((error) => console.log(error.name));`;
	const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program, its.path], { timeout: 30_000 });
	assert.equal(stdout, "TimeoutError\nConnectionLost\nTimeoutError\n");
});

test("what the client itself closed is not said to be the daemon's doing", async (t) => {
	const its = await daemon(t, ({ socket, params }) => params.code === "1" && socket.pause());
	const { client, came, path } = its;
	const running = [client.run("1")];
	while (came.length === 0) await sleep(5);
	running.push(client.run("2", { stdin: "x".repeat(8 << 20) })); // which does not leave as a whole
	await sleep(100);
	client.close();
	for (const { reason } of await Promise.allSettled(running))
		assert.equal(String(reason), "ConnectionLost: the connection to ced was lost: the client closed it");
	assert.equal(its.connections, 1, "it does not connect again");
	await assert.rejects(client.run("1"), /^ConnectionLost: this client was closed$/);

	const early = new ced.Client(path);
	const run = early.run("early");
	early.close();
	await assert.rejects(run, /^ConnectionLost: this client was closed$/, "a client that is closed while it connects runs nothing");
	assert.ok(!came.some(({ params }) => params.code === "early"));
});
