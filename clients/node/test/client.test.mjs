// The client against a daemon at CED_SOCKET.
import assert from "node:assert/strict";
import { getEventListeners, once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, test } from "node:test";

import * as ced from "ced";
import { z } from "zod";

const { Client } = ced;
const client = new Client();
after(() => client.close());
const patient = { limits: { wall_ms: 60000, cpu_ms: 60000 } };
const folder = mkdtempSync(join(tmpdir(), "ced-node-"));

test("the table of methods is the one of the daemon", () => {
	const header = readFileSync(join(process.env.CED_REPOSITORY, "proto/method/method_table.h"), "utf8");
	const names = [...header.matchAll(/X\([A-Z_]+,\s*"([a-z._]+)"/g)].map((found) => found[1]);
	assert.ok(names.length > 30);
	assert.deepEqual(Object.keys(ced.METHODS).sort(), names.sort());
	for (const name of names) assert.equal(typeof client[ced.functionName(name)], "function", name);
});

test("each error code of the protocol has a class", () => {
	const page = readFileSync(join(process.env.CED_REPOSITORY, "docs/PROTOCOL.md"), "utf8");
	const table = page.split("\n## Errors\n")[1].split("\n| `reason` |")[0];
	const codes = [...table.matchAll(/^\| `([a-z_]+)` \|/gm)].map((found) => found[1]);
	assert.deepEqual([...ced.ERROR_CODES].sort(), codes.filter((code) => code !== "code").sort());
});

test("a run that works, and one that fails", async () => {
	const good = await ced.run("print(6 * 7)", patient);
	assert.deepEqual([good.outcome, good.stdout, good.text], ["ok", "42\n", "42\n"]);
	const bytes = await client.run("import sys\nsys.stdout.buffer.write(b'a\\xff')", patient);
	assert.deepEqual([Buffer.from(bytes.stdout).length, bytes.text], [2, "a\ufffd"]);
	assert.ok(!Object.keys(bytes).includes("text"), "the keys are those of the protocol");
	const bad = await client.run("1 / 0", patient);
	assert.deepEqual([bad.outcome, bad.ok, bad.error.line], ["exception", false, 1]);
});

test("errors of the protocol have their class", async () => {
	await assert.rejects(client.run("1", { limits: { pids: 100000 } }), (error) =>
		error instanceof ced.BadRequest && error.data.pointer === "/limits/pids" && error.name === "BadRequest");
	await assert.rejects(client.call("no.such"), ced.UnknownMethod);
	await assert.rejects(client.runsGet({ run_id: "01M7YCC3CPWJBKFYPEX1ZNC7W5" }), ced.NotFound);
	assert.throws(() => client.runsGet("01M7YCC3CPWJBKFYPEX1ZNC7W5"), /runsGet takes its params by name/);
});

test("options that are no object are refused with what to type", async () => {
	const said = /^TypeError: run takes options by name: run\(code, { language: "javascript" }\)$/;
	await assert.rejects(client.run("1", "javascript"), said);
	await assert.rejects(new ced.Session(client, { session: "01M7YCC3CPWJBKFYPEX1ZNC7W5" }).run("1", "javascript"), said);
	await assert.rejects(client.run("1", null), /run\(code, { language: "python" }\)/);
	await assert.rejects(client.start("1", "bash"), /start\(code, { language: "bash" }\)/);
	await assert.rejects(client.run("1", { on_stdout: console.log }), /^TypeError: no option "on_stdout" takes a function: pass onEvent/);
	await assert.rejects(client.run("1", { timeout: 5 }), /^TypeError: a run has no option "timeout": limits: { wall_ms/);
	await assert.rejects(client.run("1", { files: "a.csv" }), /^TypeError: files is one path or content/);
	await assert.rejects(client.check("1", "bash"), /check\(code, { language: "bash" }\)/);
	assert.equal((await client.check("import socket", { policy: "strict" })).would, "deny");
	assert.equal((await client.check({ language: "python", code: "1" })).would, "run");
	assert.throws(() => client.stream("1", "bash"), /stream\(code, { language: "bash" }\)/);
});

test("a client takes the path of its socket, and no option that it does not know", async () => {
	const named = new Client(process.env.CED_SOCKET);
	assert.equal((await named.hello()).server, "ced");
	named.close();
	assert.equal(new Client("/nope").socket, "/nope");
	await assert.rejects(new Client("/nope").hello(), ced.ConnectionLost);
	assert.throws(() => new Client({ path: "/nope" }), /^TypeError: new Client\(\) has no option "path"; known are: socket, busyMs, reconnectMs$/);
	assert.throws(() => new Client(7), /^TypeError: new Client\(\) takes the path of a socket/);
});

test("a message that is too large is answered as such, and what it asked for is not done", async () => {
	for (let i = 0; i < 3; i++) await assert.rejects(client.run("1", { stdin: "x".repeat(17 << 20) }), (error) =>
		error instanceof ced.TooLarge && /16777216 bytes/.test(error.message));
	await assert.rejects(client.run("1", { files: { a: new Uint8Array(9 << 20), b: new Uint8Array(9 << 20) } }), ced.TooLarge);
	assert.equal((await client.run("print(1)", patient)).text, "1\n", "and the next one is done");
});

test("onEvent hears all events of a run", async () => {
	const heard = [];
	await client.run("print(1)", { ...patient, onEvent: ({ type, text }) => heard.push(text ?? type) });
	assert.deepEqual(heard, ["started", "1\n"]);
	const options = { ...patient, onEvent: () => undefined, timeout: undefined };
	assert.equal((await client.check("print(1)", options)).would, "run");
	assert.equal((await client.wait(await client.start("print(1)", options))).outcome, "ok");
});

test("200 runs at once: none lost, none out of place", async () => {
	const results = await Promise.all(Array.from({ length: 200 }, (_, i) => client.run(`print(${i})`, patient)));
	assert.deepEqual(results.map((result) => result.stdout), Array.from({ length: 200 }, (_, i) => `${i}\n`));
	assert.equal(new Set(results.map((result) => result.run_id)).size, 200);
});

test("files come as text, bytes, paths and streams, and artifacts go back", async () => {
	const path = join(folder, "table.csv");
	writeFileSync(path, "a,b\n");
	const blob = await client.putBlob("from a blob");
	const result = await client.run(
		"import os\nfor n in sorted(os.listdir()):\n  if n != 'main.py': print(n, open(n,'rb').read())\n" +
		"os.mkdir('out'); open('out/x.bin','wb').write(bytes(range(256)))",
		{ ...patient, artifacts: ["**"], files: [
			{ from: path }, { path: "bytes", data: new Uint8Array([0, 255]) }, { path: "blob", blob },
			{ path: "stream", data: Readable.from([Buffer.from("one "), Buffer.from("two")]) }, { path: "text", data: "é" },
		] });
	assert.equal(result.outcome, "ok", result.reason);
	assert.equal(result.stdout, "blob b'from a blob'\nbytes b'\\x00\\xff'\nstream b'one two'\ntable.csv b'a,b\\n'\ntext b'\\xc3\\xa9'\n");
	const all = Uint8Array.from({ length: 256 }, (_, i) => i);
	assert.deepEqual(ced.artifact(result, "out/x.bin"), all);
	assert.equal(ced.artifact(result, "nothing"), undefined);
	const saved = await ced.saveArtifacts(result, join(folder, "artifacts"));
	assert.ok(saved.includes(join(folder, "artifacts/out/x.bin")));
	await ced.saveArtifacts({ artifacts: [{ path: "out/x.bin", data: "new" }] }, join(folder, "artifacts"));
	assert.equal(readFileSync(join(folder, "artifacts/out/x.bin"), "utf8"), "new", "a second time writes over the first");
	await assert.rejects(ced.saveArtifacts({ artifacts: [{ path: "../x", data: "" }] }, folder), /outside/);
	const linked = join(folder, "linked");
	mkdirSync(linked);
	symlinkSync(folder, join(linked, "out"));
	symlinkSync(join(folder, "dangling"), join(linked, "file"));
	await assert.rejects(ced.saveArtifacts({ artifacts: [{ path: "out/y", data: "" }] }, linked), /outside/);
	await assert.rejects(ced.saveArtifacts({ artifacts: [{ path: "file", data: "" }] }, linked), { code: "ELOOP" });
	assert.deepEqual([existsSync(join(folder, "y")), existsSync(join(folder, "dangling"))], [false, false]);
	await ced.saveStream(client.output(result.run_id, "artifact:out/x.bin"), join(folder, "x.bin"));
	assert.deepEqual(new Uint8Array(readFileSync(join(folder, "x.bin"))), all);
	const map = { m: "map", d: { from: path }, b: { blob, mode: 0o600 }, s: { data: Readable.from(["stream"]) } };
	assert.equal((await client.run("print(*(open(n).read() for n in 'mdbs'))", { ...patient, files: map })).stdout,
		"map a,b\n from a blob stream\n");
	for (const wrong of [7, null, { form: path }, new Date()])
		await assert.rejects(client.run("1", { files: { a: wrong } }), /^TypeError: the file "a" has no content: give text, .* { from:/);
});

test("integers that a double does not hold are BigInt, both ways", async () => {
	const big = 2n ** 63n + 5n;
	const result = await client.run("import json,sys\nx=json.load(sys.stdin)\nprint(json.dumps([x, 7, -2**60, 1.5, 2**53-1]))",
		{ ...patient, input: big, output: "json" });
	assert.deepEqual(result.value, [big, 7, -(2n ** 60n), 1.5, 2 ** 53 - 1]);
});

test("a program that prints __proto__ changes only its own value", async () => {
	const result = await client.run(`print('{"__proto__": {"bad": 1}, "a": {}}')`, { ...patient, output: "json" });
	assert.deepEqual(Object.keys(result.value), ["__proto__", "a"]);
	assert.equal({}.bad, undefined);
	assert.equal(result.value.a.bad, undefined);
});

test("schema as JSON Schema, zod and a parser that refuses", async () => {
	const object = { type: "object", required: ["n"] };
	assert.equal((await client.run("print('{}')", { ...patient, schema: object })).outcome, "output_invalid");
	const shape = z.object({ n: z.number() });
	const schema = { parse: (value) => shape.transform(({ n }) => n + 1).parse(value), toJSONSchema: () => z.toJSONSchema(shape) };
	assert.equal((await client.run("print('{\"n\": 1}')", { ...patient, schema })).value, 2);
	const direct = await client.run("print('{\"n\": 3}')", { ...patient, schema: shape });
	assert.deepEqual(direct.value, { n: 3 });
	const refusing = { parse: () => { throw new Error("not so"); }, toJSONSchema: () => ({}) };
	await assert.rejects(client.run("print(1)", { ...patient, schema: refusing }), (error) =>
		error instanceof ced.ValueRefused && error.result.ok && /not so/.test(error.message));
	await assert.rejects(client.run("print(1)", { schema: { parse: (value) => value } }), /toJSONSchema/);
});

test("a stream gives whole characters in order, and its result", async () => {
	const stream = client.stream("import sys,time\nfor i in range(3): print(i, flush=True)\n" +
		"sys.stdout.buffer.write(b'\\xc3'); sys.stdout.flush(); time.sleep(.05); sys.stdout.buffer.write(b'\\xa9\\n')",
		patient);
	let text = "", started;
	for await (const event of stream) {
		if (event.type === "started") started = event.run_id;
		if (event.type === "output") text += event.text;
	}
	const result = await stream.result;
	assert.equal(text, "0\n1\n2\né\n");
	assert.equal(started, result.run_id);
});

test("leaving the loop over a stream cancels the run", async () => {
	const stream = client.stream("print('on', flush=True)\nimport time\nwhile True: time.sleep(1)", patient);
	for await (const event of stream) if (event.type === "output") break;
	assert.equal((await stream.result).outcome, "canceled");
});

test("an AbortSignal cancels a run, in a stream or not, before or after it was sent", async () => {
	const controller = new AbortController();
	const stream = client.stream("print('on', flush=True)\nimport time\nwhile True: time.sleep(1)",
		{ ...patient, signal: controller.signal });
	for await (const event of stream) if (event.type === "output") controller.abort();
	assert.equal((await stream.result).outcome, "canceled");
	await assert.rejects(client.run("1", { signal: AbortSignal.abort() }), { name: "AbortError" });

	const lasting = new AbortController();
	for (const run of [client.run("1", { ...patient, signal: lasting.signal }),
		client.stream("1", { ...patient, signal: lasting.signal }).result,
		client.stream("1", { ...patient, signal: lasting.signal, args: 3 }).result.catch((error) => error)]) await run;
	assert.deepEqual(getEventListeners(lasting.signal, "abort"), [], "a run that is over leaves nothing at the signal");
});

test("tools are functions of this process", async () => {
	const seen = [];
	const tools = {
		degrees: { input: z.object({ city: z.string() }), output: { type: "integer" },
			run: ({ city }, { call }) => { seen.push([city, call]); if (city === "X") throw new Error("no such city"); return city.length; } },
		nothing: { input: true, run: () => undefined },
		wrong: { input: true, output: { type: "string" }, run: () => 1 },
		strange: { input: true, run: () => () => 1 },
	};
	const result = await client.run("import tools\nprint(tools.degrees(city='Oslo'), tools.nothing())\n" +
		"for f in (lambda: tools.degrees(city='X'), tools.wrong, tools.strange):\n" +
		"  try: f()\n  except tools.ToolError as e: print(e.code, e.message.split(':')[0])\n", { ...patient, tools });
	assert.equal(result.outcome, "ok", result.reason);
	const lines = result.stdout.trim().split("\n");
	assert.equal(lines[0], "4 None");
	assert.equal(lines[1], "failed no such city");
	assert.match(lines[2], /^bad_result/);
	assert.match(lines[3], /^failed the tool's result cannot be sent/);
	assert.deepEqual(seen, [["Oslo", 1], ["X", 3]]);
});

test("an answer of a tool that the daemon refuses is an error of the program at once", async () => {
	const of = (value) => ({ input: true, run: () => value });
	let deep = [];
	for (let n = 0; n < 50; n++) deep = [deep];
	const half = { input: true, run: () => { throw new Error("a\ud800"); } };
	const nul = { input: true, run: () => { throw new Error("a\0b"); } };
	const mute = { input: true, run: () => { throw Object.defineProperty(new Error(), "message", { get: () => { throw 1; } }); } };
	const tools = { nan: of(NaN), deep: of(deep), text: of("\ud800"), half, nul, mute };
	const code = "for (const name of ['nan', 'deep', 'text', 'half', 'nul', 'mute'])\n" +
		"  try { await tools[name](); } catch (error) { console.log(name, error.code, error.reason); }";
	const result = await client.run(code, { ...patient, language: "javascript", tools, entrypoint: "main.mjs" });
	const lines = result.stdout.split("\n");
	assert.match(lines[0], /^nan failed the tool's result cannot be sent: a number is infinite or not a number/);
	assert.match(lines[1], /^deep failed the tool's result cannot be sent: .*deeper than 32 levels/);
	assert.match(lines[2], /^text failed the tool's result cannot be sent: /);
	assert.equal(lines[3], "half failed a\ufffd");
	assert.equal(lines[4], "nul failed a\\x00b");
	assert.equal(lines[5], "mute failed an error that does not say what it is");
});

test("a tool with a wrong key is an error that names the key", async () => {
	const run = () => 1;
	for (const [tool, said] of [
		[{ inputs: true, run }, /^TypeError: tools.f has no key "inputs"; known are: description, input, output, timeout_ms, calls, effects, run$/],
		[{ input: true }, /^TypeError: tools.f needs a function "run"/],
		[{ run }, /^TypeError: tools.f needs "input"/],
	]) await assert.rejects(client.run("1", { tools: { f: tool } }), said);
	const whole = { description: "one", input: true, output: true, timeout_ms: 5000, calls: 1, effects: true, run };
	assert.equal((await client.run("import tools\nprint(tools.f())", { ...patient, tools: { f: whole } })).text, "1\n");
});

test("a tool hears that nobody waits for it", async () => {
	let reason;
	const tools = { slow: { input: true, timeout_ms: 200, run: (_, { signal }) => new Promise((resolve) =>
		signal.addEventListener("abort", () => { reason = signal.reason.message; resolve(1); })) } };
	const result = await client.run("import tools\ntry: tools.slow()\nexcept tools.ToolError as e: print(e.code)", { ...patient, tools });
	assert.equal(result.stdout, "timeout\n");
	assert.match(reason, /timeout/);
});

test("done once: the same id is answered from the record", async () => {
	const id = `node-${process.pid}-${Date.now()}`;
	const code = "import uuid; print(uuid.uuid4())";
	const [first, second] = [await client.run(code, { ...patient, id }), await client.run(code, { ...patient, id })];
	assert.deepEqual([first.stdout, second.cached], [second.stdout, true]);
	await assert.rejects(client.run("print(2)", { ...patient, id }), ced.Conflict);
});

test("a detached run is fetched with wait", async () => {
	const { run_id } = await client.run("print('later')", { ...patient, detach: true });
	assert.equal((await client.wait({ run_id })).text, "later\n");
	const schema = { parse: ({ n }) => n + 1, toJSONSchema: () => ({ type: "object", required: ["n"] }) };
	const result = await client.wait(await client.start(`print('{"n": 1}')`, { ...patient, schema }));
	assert.equal(result.value, 2, "the value is parsed as that of a run");
	assert.deepEqual((await client.wait(result.run_id)).value, { n: 1 });
	assert.equal(await client.wait(result), result);
	const denied = await client.start("import socket", { policy: "strict" });
	assert.deepEqual([denied.outcome, await client.wait(denied)], ["policy_denied", denied]);
	const parked = await client.start("import ctypes", { policy: "review" });
	assert.equal(parked.state, "parked");
	const waits = await client.wait(parked, { timeout_ms: 0 });
	assert.deepEqual([waits.run_id, waits.state], [parked.run_id, "parked"]);
	await client.cancel({ run_id: parked.run_id });
	assert.equal((await client.wait(waits)).outcome, "canceled");
});

test("events come on a connection of their own", async () => {
	const agent = `agent-${process.pid}`;
	const events = await client.events({ kinds: ["finished"], agent });
	const { run_id } = await client.run("1", { ...patient, agent });
	for await (const event of events) {
		assert.deepEqual([event.kind, event.run_id], ["finished", run_id]);
		break;
	}
	await assert.rejects(client.events({ kinds: ["nonsense"] }), ced.BadRequest);

	const told = client.events({ kinds: ["finished"], agent }); // not awaited
	const first = (async () => { for await (const event of told) return event; })();
	let known;
	first.then((event) => (known = event));
	while (!known) await client.run("1", { ...patient, agent });
	assert.deepEqual([known.kind, known.agent], ["finished", agent]);
	await assert.rejects((async () => { for await (const _ of client.events({ kinds: ["nonsense"] })); })(), ced.BadRequest);
});

/** A relay in front of the daemon; `cut` decides for each chunk from the client whether to hang up after it. */
async function relay(cut, path = join(folder, `relay-${Math.random()}.sock`)) {
	const sockets = new Set();
	const server = createServer((socket) => {
		const upstream = connect(process.env.CED_SOCKET);
		sockets.add(socket).add(upstream);
		socket.on("data", (chunk) => { upstream.write(chunk); if (cut(chunk)) setImmediate(() => socket.destroy()); });
		upstream.on("data", (chunk) => socket.destroyed || socket.write(chunk));
		for (const [a, b] of [[socket, upstream], [upstream, socket]]) a.on("error", () => 0).on("close", () => b.destroy());
	});
	await new Promise((resolve) => server.listen(path, resolve));
	return { path, end: () => { server.close(); for (const socket of sockets) socket.destroy(); } };
}

test("a lost connection: a run is not sent twice, one with an id and a question are", async () => {
	let cuts = 0, sent = 0;
	const between = await relay((chunk) => {
		if (chunk.includes("marked") || chunk.includes("runs.list")) { sent++; return cuts-- > 0; }
		return false;
	});
	const own = new Client({ socket: between.path });
	cuts = 1;
	await assert.rejects(own.run("print('marked')\nimport time\nwhile True: time.sleep(1)", patient),
		(error) => error instanceof ced.ConnectionLost && error.sent && typeof error.runId === "string");
	assert.equal(sent, 1);
	cuts = 1;
	const detached = await own.run("print('marked')", { ...patient, detach: true, id: `cut-${process.pid}-${Date.now()}` });
	assert.ok(detached.run_id);
	assert.equal(sent, 3);
	cuts = 1;
	assert.ok((await own.runsList({ limit: 1 })).runs.length);
	assert.equal(sent, 5);
	own.close();
	await assert.rejects(own.hello(), ced.ConnectionLost);
	between.end();
});

test("no daemon: the message says what to do", async () => {
	const none = join(folder, "none.sock");
	const said = async (environment) => {
		const before = { ...process.env };
		Object.assign(process.env, environment);
		try {
			return await new Client(environment.CED_SOCKET ? none : undefined).hello().catch((error) => error);
		} finally {
			process.env = before;
		}
	};
	const one = await said({ CED_SOCKET: "/elsewhere" });
	assert.ok(one instanceof ced.ConnectionLost && !(one instanceof ced.NoPermission) && !one.sent);
	assert.ok(one.message.startsWith(`no daemon answers. These sockets were tried:\n  ${none}: connect ENOENT`), one.message);
	assert.match(one.message, /sudo systemctl start ced\n.*\.\/dev run.*\n.*export CED_SOCKET=PATH/);
	mkdirSync(join(folder, "ced"));
	writeFileSync(join(folder, "ced/ced.sock"), "");
	const own = await said({ CED_SOCKET: "", XDG_RUNTIME_DIR: folder });
	assert.match(own.message, /tried:\n  \/.*\/ced\/ced.sock: connect ECONNREFUSED .*\n  \/run\/ced\/ced.sock: /);
});

test("a socket that this user may not use: the message says so", { skip: process.getuid() !== 0 && "needs root" }, async () => {
	const closed = join(folder, "closed.sock");
	const server = createServer().listen(closed);
	await once(server, "listening");
	chmodSync(closed, 0o600);
	process.seteuid(65534);
	const error = await new Client(closed).hello().catch((reason) => reason).finally(() => process.seteuid(0));
	server.close();
	assert.ok(error instanceof ced.NoPermission && error instanceof ced.ConnectionLost, String(error));
	assert.equal(error.name, "NoPermission");
	assert.match(error.message, /^you may not use the daemon's socket .*closed.sock: its owner or group must let you\n.*sudo adduser YOU ced/);
});

test("a session: cells, states, back, keep, drop, close", async (t) => {
	let session;
	try {
		session = await client.openSession({ states: 4 });
	} catch (error) {
		if (error instanceof ced.BadRequest) return t.skip(error.message);
		throw error;
	}
	const loaded = (await session.run("x = 1", patient)).session.state;
	await session.run("x = 2", patient);
	assert.equal((await session.run("print(x)", patient)).stdout, "2\n");
	assert.deepEqual([session.state, session.kept.includes(loaded)], [loaded + 2, true]);
	await session.rollback(loaded);
	assert.equal(session.state, loaded);
	assert.equal((await session.run("print(x)", patient)).stdout, "1\n");
	const kept = await session.keep("good");
	assert.equal(kept.pinned[0].name, "good");
	assert.ok((await client.sessionList()).sessions.some((item) => item.session === session.id));
	await session.drop(kept.pinned[0].state);
	const stream = session.stream("print('cell')", patient);
	const events = [];
	for await (const event of stream) events.push([event.type, event.text]);
	assert.deepEqual(events, [["started", undefined], ["output", "cell\n"]]);
	assert.equal(session.state, (await stream.result).session.state, "a stream says where the session stands");
	await session.close();
	assert.equal(await session.close(), undefined);
	await assert.rejects(session.run("1"), ced.NotFound);
	const killed = await client.openSession({ language: "javascript" });
	await killed.run("process.exit()", patient);
	assert.deepEqual([killed.state, killed.ended], [0, undefined], "a session whose first cell is killed begins anew");
	await killed.run("1", patient);
	await killed.run("process.exit()", patient);
	assert.deepEqual([killed.state, killed.ended.why, await killed.close()], [null, "killed", undefined]);
});

test("a run that waits for a person is visible: a callback, an event or a warning", async () => {
	const waiting = { ...patient, policy: "review" };
	const code = "import ctypes";
	const controller = new AbortController();
	const parked = await new Promise((resolve, reject) => {
		const result = client.run(code, { ...waiting, signal: controller.signal, onParked: (notice) => resolve({ notice, result }) });
		result.then((early) => reject(new Error(`it did not wait: ${early.reason}`)), reject);
	});
	controller.abort();
	assert.equal(parked.notice.policy.name, "review");
	assert.equal((await parked.result).outcome, "canceled");

	const stream = client.stream(code, waiting);
	const types = [];
	for await (const event of stream) {
		types.push(event.type);
		if (event.type === "parked") stream.cancel();
	}
	assert.deepEqual(types, ["started", "parked"]);
	assert.equal((await stream.result).outcome, "canceled");

	const tools = { send: { input: true, run: () => 1 } };
	const calls = "import tools\ntry: tools.send()\nexcept tools.ToolError as e: print(e.code)";
	const short = { policy: "asks", tools, limits: { calls_ms: 1000, wall_ms: 60000 } };
	const heard = [];
	assert.equal((await client.run(calls, { ...short, onParked: (waits) => heard.push(waits) })).text, "timeout\n");
	assert.equal(heard.length, 1);
	assert.deepEqual([heard[0].call, heard[0].tool, heard[0].rule, heard[0].policy], [1, "send", "tools.ask send", { name: "asks" }]);
	const said = new Promise((resolve) => process.once("warning", resolve));
	await client.run(calls, short);
	assert.match((await said).message, /call 1 of send by the run \w{26} waits until a person approves it \(policy asks\)/);

	const warned = new Promise((resolve) => process.once("warning", resolve));
	const silent = new AbortController();
	const result = client.run(code, { ...waiting, signal: silent.signal });
	assert.match((await warned).message, /waits until a person approves it/);
	silent.abort();
	assert.equal((await result).outcome, "canceled");
});

test("busy is tried again after the time given, and no longer than allowed", async (t) => {
	const open = [];
	const hasty = new Client({ busyMs: 0 });
	let busy;
	while (!busy && open.length < 64) {
		try {
			open.push(await hasty.openSession());
		} catch (error) {
			if (error instanceof ced.BadRequest) return t.skip(error.message);
			busy = error;
		}
	}
	assert.ok(busy instanceof ced.Busy, `${open.length} sessions were opened`);
	const later = client.openSession();
	await open.pop().close();
	await (await later).close();
	for (const session of open) await session.close();
	hasty.close();
});

test("an abort in the tick of run() sends nothing, and its reason is thrown", async () => {
	await client.hello();
	const controller = new AbortController();
	const running = client.run("print(1)", { ...patient, signal: controller.signal, task: "never sent" });
	controller.abort(new Error("not now"));
	await assert.rejects(running, /not now/);
	assert.deepEqual((await client.runsList({ task: "never sent" })).runs, []);
});
