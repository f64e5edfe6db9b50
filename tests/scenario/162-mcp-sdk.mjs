// cectl mcp, driven by the official client, which checks every answer against the specification and
// every structured content against the schema of its tool.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(process.argv[2] + "/");
const load = (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${name}`)));
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");
const { LATEST_PROTOCOL_VERSION, LoggingMessageNotificationSchema } = await load("types.js");

let count = 0;
let failed = 0;
const ok = (good, name, told) => {
  count += 1;
  console.log(`${good ? "ok" : "not ok"} ${count} - ${name}`);
  if (!good) {
    failed += 1;
    if (told !== undefined) console.log("# " + JSON.stringify(told)?.slice(0, 600));
  }
};
const eq = (found, hoped, name) =>
  ok(JSON.stringify(found) === JSON.stringify(hoped), name, { found, hoped });
const refused = async (promise, name) => {
  try {
    ok(false, name, await promise);
  } catch (error) {
    ok(true, name);
    return error;
  }
};

const LONG = { wall_ms: 60000, cpu_ms: 60000 };
const connect = async (...options) => {
  const client = new Client({ name: "scenario", version: "1" });
  const transport = new StdioClientTransport({
    command: "cectl", args: ["mcp", ...options], env: { ...process.env }, stderr: "inherit",
  });
  client.broken = [];
  client.onerror = (error) => client.broken.push(String(error));
  await client.connect(transport);
  return client;
};
const client = await connect();
const call = (name, args = {}, options) =>
  client.callTool({ name, arguments: args }, undefined, { timeout: 300000, ...options });
const run = (code, more = {}, options) =>
  call("run_code", { language: "python", code, limits: LONG, ...more }, options);

// ---- initialize and list --------------------------------------------------------------------------

eq(client.transport._protocolVersion ?? LATEST_PROTOCOL_VERSION, LATEST_PROTOCOL_VERSION, "the newest version that the client speaks");
eq(client.getServerVersion().name, "ced", "the server says who it is");
ok(client.getInstructions().includes("run_code"), "and how it is used");
const { tools } = await client.listTools();
const names = tools.map((tool) => tool.name).sort();
eq(names, ["cancel_run", "check_code", "close_session", "explain_run", "get_output", "get_run", "list_runtimes",
  "list_sessions", "open_session", "rollback_session", "run_code", "search_runs", "wait_run"], "its tools");

// ---- each tool; the client checks structured content by the tool's schema -------------------------

const used = new Set();
const facts = async (name, args, options) => {
  used.add(name);
  const result = await call(name, args, options);
  ok(result.structuredContent && result.content[0].type === "text", `${name}: structured content that satisfies its schema, and a text`, result);
  return result.structuredContent;
};
const first = await facts("run_code", { language: "python", code: "print(6 * 7)", limits: LONG });
eq([first.outcome, first.stdout], ["ok", "42\n"], "a program runs");
for (const [language, code] of [["javascript", "console.log(42)"], ["bash", "echo 42"]])
  eq((await facts("run_code", { language, code, limits: LONG })).stdout, "42\n", `one in ${language}, too`);
eq((await facts("check_code", { language: "python", code: "print(1)" })).would, "run", "check_code");
eq((await facts("get_run", { run_id: first.run_id })).code, "print(6 * 7)", "get_run");
eq((await facts("get_output", { run_id: first.run_id, stream: "stdout" })).text, "42\n", "get_output");
ok((await facts("explain_run", { run_id: first.run_id })).happened.length > 0, "explain_run");
ok((await facts("search_runs", { text: "42" })).runs.length > 0, "search_runs");
ok((await facts("list_runtimes", {})).runtimes.some((runtime) => runtime.name === "python"), "list_runtimes");
const { session } = await facts("open_session", { language: "python", limits: LONG });
await run("x = 6", { session });
eq((await run("print(x * 7)", { session })).structuredContent.stdout, "42\n", "a session keeps variables");
eq((await facts("list_sessions", {})).sessions.map((one) => one.session), [session], "list_sessions");
eq((await facts("rollback_session", { session, state: 1 })).state, 1, "rollback_session");
eq((await facts("close_session", { session })).cells, 2, "close_session");
const detached = await facts("run_code", { language: "python", code: "import time\ntime.sleep(600)", limits: LONG, detach: true });
eq((await facts("wait_run", { run_id: detached.run_id, timeout_ms: 1 })).state, "running", "wait_run");
eq((await facts("cancel_run", { run_id: detached.run_id })).run_id, detached.run_id, "cancel_run");
eq((await facts("wait_run", { run_id: detached.run_id })).outcome, "canceled", "the run is cancelled");
eq([...used].sort(), names, "every tool was called");

// ---- failures -------------------------------------------------------------------------------------

for (const [code, outcome, more] of [
  ["1/0", "exception"], ["x = (", "syntax_error"], ["import sys; sys.exit(5)", "exit"],
  ["while True: pass", "cpu_limit", { limits: { cpu_ms: 200, wall_ms: 60000 } }],
  ["x = bytearray(10**9)\nfor i in range(0, 10**9, 4096): x[i] = 1", "*"],
  ["import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "*"],
  ["print('no json')", "output_invalid", { output: "json" }],
  ["for i in range(10**6): print(i)", "output_limit", { limits: { stdout_bytes: 100, ...LONG } }],
]) {
  const result = await run(code, more);
  ok(result.isError && (outcome === "*" || result.structuredContent.outcome === outcome),
    `a failure is told, with content that satisfies the schema: ${code.slice(0, 30).split("\n")[0]}`, result.structuredContent);
}
const wrong = await call("run_code", { language: "cobol", code: "x" });
ok(wrong.isError && wrong.content[0].text.includes("cobol"), "a refused request is an answer for the model", wrong);
eq((await refused(client.callTool({ name: "nothing", arguments: {} }), "an unknown tool is a protocol error"))?.code, -32602, "with its code");

// ---- progress, cancel, approval -------------------------------------------------------------------

const heard = [];
await run("import time\nfor i in range(4):\n    print(i, flush=True)\n    time.sleep(0.4)", {}, { onprogress: (note) => heard.push(note) });
ok(heard.length >= 2 && heard.every((note, at) => at === 0 || note.progress > heard[at - 1].progress),
  "progress comes while a program runs, and grows", heard);
ok(heard.some((note) => note.message.includes("has written")), "it says how much was written", heard);

const stop = new AbortController();
let started;
const begun = new Promise((resolve) => { started = resolve; });
const cancelled = run("import time\ntime.sleep(600)", {}, { signal: stop.signal, onprogress: (note) => started(note) });
const note = await Promise.race([begun, cancelled]);
const runId = note.message.match(/run (\w+)\./)[1];
stop.abort("enough");
await refused(cancelled, "an aborted call ends for the client");
eq((await call("wait_run", { run_id: runId })).structuredContent.outcome, "canceled", "and its program for the daemon");
eq(await client.ping(), {}, "the connection goes on");

const review = await connect("--policy", "review");
let approval;
const asked = new Promise((resolve) => { approval = resolve; });
review.setNotificationHandler(LoggingMessageNotificationSchema, (message) => approval(message.params));
await review.setLoggingLevel("info");
const parked = new AbortController();
const waiting = review.callTool({ name: "run_code", arguments: { language: "python", code: "import subprocess" } },
  undefined, { signal: parked.signal, timeout: 300000 });
waiting.catch(() => {});
ok((await asked).data.includes("waits for a person's approval"), "a waiting approval is a log message");
parked.abort();
await review.close();

// ---- pictures and resources -----------------------------------------------------------------------

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const shown = await run("display.mime({'image/png': open('dot.png', 'rb').read()})",
  { display: true, files: [{ path: "dot.png", base64: PNG }] });
eq(shown.content.filter((item) => item.type === "image").map((item) => [item.mimeType, item.data]), [["image/png", PNG]],
  "a picture comes as an image");

const { resources } = await client.listResources();
ok(resources.some((resource) => resource.uri === `ced://run/${first.run_id}`), "runs are resources");
const record = (await client.readResource({ uri: `ced://run/${first.run_id}` })).contents[0];
eq(JSON.parse(record.text).stdout, "42\n", "the record is read");
eq((await client.readResource({ uri: `ced://run/${first.run_id}/output/stdout` })).contents[0].text, "42\n", "so is an output");
eq((await client.listResourceTemplates()).resourceTemplates.length, 2, "templates are listed");
await refused(client.readResource({ uri: "ced://run/00000000000000000000000000" }), "a run that is not there is an error");

eq(client.broken.concat(review.broken), [], "the official client found no fault in any message");
await client.close();
console.log(`1..${count}`);
process.exit(failed > 0 ? 1 : 0);
