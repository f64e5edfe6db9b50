#!/bin/bash
# Programs of node: what they say, how they end, what they find, and what holds them.
# shellcheck disable=SC2016 # what stands in single quotes is for node in the jail
. "$(dirname "$0")/lib.sh"
[[ -x /usr/bin/node ]] || skip_all "there is no node at /usr/bin"
home=/work # of programs
daemon_start

js() { # exit code, name, arguments of cectl run
	local hoped=$1 name=$2
	shift 2
	exits "$hoped" "$name" cectl run -l javascript "$@"
}
result() {
	cectl run --json -l javascript "$@" 2>/dev/null
}

# --- as node runs it alone ------------------------------------------------------------------------

js 0 "a program runs" -c 'console.log("hello", 6 * 7, __filename, require.main === module)'
is "$out" "hello 42 $home/main.js true" "as the script that node was started with"
js 0 "so does an ES module, by its syntax" \
	-c 'import { sep } from "node:path"; console.log(sep, import.meta.url, await Promise.resolve(7))'
is "$out" "/ file://$home/main.js 7" "with await at the top"
js 0 "and by its name" --entrypoint main.mjs -c 'export default 1; console.log(typeof require)'
is "$out" undefined "which is no CommonJS"
js 0 "arguments come as they were given" -c 'console.log(process.argv.slice(1).join("|"), process.execArgv.length)' -- one 'two three'
is "$out" "$home/main.js|one|two three 0" "and no others"
js 0 "stdin is its own" -c 'let s = ""; process.stdin.on("data", (d) => s += d).on("end", () => console.log(s))' --input '{"a":1}'
is "$out" '{"a":1}' "as a stream"
js 0 "and as a file" -c 'console.log(JSON.parse(require("fs").readFileSync(0, "utf8")).a)' --input '{"a": "b"}'
is "$out" b "to the last byte"
js 0 "without input it is empty" -c 'console.log(require("fs").readFileSync(0).length)'
is "$out" 0 "and at its end"
js 0 "its environment is small, and what was asked for" --env COLOUR=blue \
	-c 'console.log(Object.keys(process.env).sort().join(" "), process.env.COLOUR)'
is "$out" "COLOUR HOME LANG PATH TMPDIR TZ blue" "and nothing of ours"
echo 'exports.twice = (a) => a + a;' >lib.js
js 0 "files beside it are modules" --file lib.js -c 'console.log(require("./lib.js").twice("ab"))'
is "$out" abab "that it can require"
echo '{"type": "module"}' >package.json
js 0 "and say what the program is" --file package.json -c 'console.log(typeof require, typeof import.meta.url)'
is "$out" "undefined string" "a package.json of modules"
js 0 "the program is a main module like any" -c '
const module_ = require("module");
const before = [require.main === module, process.mainModule === module, this === exports, module.loaded, module.parent,
  module.id, module.paths.join(), Object.keys(module_._cache).join(), require("./main.js") === exports];
setTimeout(() => console.log(before.concat(module.loaded).join(" ")), 1);'
is "$out" "true true true false  . $home/node_modules,/node_modules $home/main.js true true" "loaded when it has run"
echo 'import main from "./main.js"; export default typeof main' >cycle.mjs
js 0 "import() of a script asks node's loader" --file cycle.mjs -c '
import("node:path").then((path) => import("./cycle.mjs").then((cycle) => console.log(path.sep, cycle.default)));'
is "$out $err" "/ object " "as in any script, and nothing is said of it"
js 0 "what the script is called with is what node calls it with" --entrypoint other.cjs -c '#!/usr/bin/env node
console.log(arguments.length, arguments.callee.caller, arguments[1] === require, arguments[3], arguments[4],
  new Error().stack.split("\n").filter((line) => !/other[.]cjs|node:/.test(line)).join());
console.log(require("fs").readdirSync(".").join(), require.main.filename, eval("require") === require);'
is "$out" "5 null true $home/other.cjs $home Error
other.cjs $home/other.cjs true" "whatever its name"
js 0 "what the worker tried before is gone" -c '
const kinds = process._getActiveHandles().map((one) => one.constructor.name);
const Module = require("module");
console.log(require("fs").readdirSync("/tmp").length, process.stdout.bytesWritten, process.stdout.writableLength,
  process.listenerCount("beforeExit"), process._exiting, kinds.join(), Object.keys(Module._pathCache).length,
  module.require.main === module);'
is "$out" "0 0 0 0 false Socket,Socket 0 true" "but for the streams"
js 0 "a main module that throws is none that was loaded" -c '
process.once("uncaughtException", () => setTimeout(() => {
  console.log(module.loaded, Object.keys(require.cache).length);
  require("./main.js");
}));
globalThis.runs = (globalThis.runs ?? 0) + 1;
console.log(runs, require.main === module);
if (runs == 1) throw new Error();'
is "$out" $'1 true\nfalse 0\n2 false' "and can be had again"
js 0 "a program that may open nothing more begins" --limit open_files=16 --entrypoint other.js -c 'console.log(__filename)'
is "$out" $home/other.js "whatever its name"
echo 'console.log("by name", __filename)' >job.cjs
is "$(cectl run job.cjs)" "by name /work/job.cjs" "a file that ends in .cjs is one of node"
cectl run -l javascript --artifact '*.txt' --out came -c 'require("fs").writeFileSync("made.txt", "made")'
is "$(cat came/made.txt 2>&1)" made "artifacts come back"
js 0 "promises, timers, streams, crypto, Intl, WebAssembly, workers" -c '
const { Worker } = require("worker_threads");
const { pipeline } = require("stream/promises");
const { Readable, Writable } = require("stream");
(async () => {
  await new Promise((done) => setTimeout(done, 5));
  const seen = [];
  await pipeline(Readable.from(["a", "b"]), new Writable({ objectMode: true,
    write(chunk, _, next) { seen.push(chunk); next(); } }));
  const hash = require("crypto").createHash("sha256").update("x").digest("hex").slice(0, 8);
  const wasm = WebAssembly.validate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
  const answer = await new Promise((done) => new Worker(
    "require(\"worker_threads\").parentPort.postMessage(7)", { eval: true }).on("message", done));
  console.log(seen.join(""), hash, new Intl.NumberFormat("de").format(1234.5), wasm, answer,
    process.memoryUsage().rss > 0);
})();'
is "$out" "ab 2d711642 1.234,5 true 7 true" "work"
js 0 "text is UTF-8" -c 'console.log([..."grüße €"].length, "grüße €")'
is "$out" "7 grüße €" "by characters"
js 0 "large output arrives whole" -c 'process.stdout.write("x".repeat(900000)); process.stdout.write("end")'
is "${#out}" 900003 "to its end"

# --- how it ends ----------------------------------------------------------------------------------

js 3 "its exit code is the run's" -c 'process.exit(3)'
js 4 "also one that is only noted" -c 'process.exitCode = 4; console.log("a")'
js 0 "those who listen for its end are heard" -c 'process.on("exit", () => console.log("bye")); console.log("hi")'
is "$out" $'hi\nbye' "in order"
js 5 "one that hears once changes the code" -c 'process.prependOnceListener("exit", () => { process.exitCode = 5; })'
js 6 "an event of the program is no end" -c 'process.emit("exit", 0); console.log("on"); process.exitCode = 6'
is "$out" on "it runs on"
js 4 "nor does another count of listeners hide one" -c 'process.listenerCount = () => 0; process.on("exit", () => { process.exitCode = 4; })'
js 1 "who removes our listener for errors" -c 'process.removeAllListeners("uncaughtExceptionMonitor"); throw new Error("told")'
like "$err" 'Error: told' "still has its error printed"
js 0 "who stands in for emit is heard" -c '
const { emit } = process;
process.emit = function (...args) { emit.apply(this, args); console.log("after", ...args); }'
is "$out" "after beforeExit 0
after exit 0" "to the last"
js 7 "and who stands in for what leaves" -c '
const { reallyExit } = process;
process.reallyExit = (code) => { console.log("left", code); reallyExit.call(process, 7); };
process.exit(2)'
is "$out" "left 2" "too"
js 143 "a signal that it sends itself ends it" -c 'process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 99)'
js 134 "so does abort" -c 'process.abort()'
js 0 "an error that is caught is none" -c 'process.on("uncaughtException", (e) => console.log("caught", e.message)); throw new Error("x")'
is "$out" "caught x" "for anybody"

it=$(result -c $'const a = 1;\nfunction f() {\n  throw new TypeError("bad " + a);\n}\nf();')
is "$(json "$it" '[it["outcome"], it["exit_code"]] + [it["error"][k] for k in ("type", "message", "line", "column", "text")]')" \
	'["exception", 1, "TypeError", "bad 1", 3, 9, "  throw new TypeError(\"bad \" + a);"]' \
	"an error says where and what"
is "$(json "$it" '[(f["file"], f["line"], f["name"]) for f in it["error"]["frames"]]')" \
	"[[\"$home/main.js\", 5, \"Object.<anonymous>\"], [\"$home/main.js\", 3, \"f\"]]" "with the program's frames"
unlike "$(json "$it" 'it["stderr"]')" "/usr/lib/ced|(worker|program|rehearsal|failure)[.]js" "and none of ours"
like "$(json "$it" 'it["stderr"]')" "main.js:3" "as node prints it"
it=$(result -c $'setTimeout(() => {\n  null.x;\n}, 5);')
is "$(json "$it" '[it["outcome"], it["error"]["line"]]')" '["exception", 2]' "later ones too"
it=$(result -c $'\nPromise.reject(new RangeError("r"));')
is "$(json "$it" '[it["outcome"], it["error"]["type"], it["error"]["line"]]')" '["exception", "RangeError", 2]' \
	"and promises that nobody keeps"
it=$(result -c $'await 1;\nimport "node:fs";\nthrow new Error("esm");')
is "$(json "$it" '[it["outcome"], it["error"]["line"], it["error"]["column"]]')" '["exception", 3, 7]' \
	"and those of modules"
it=$(result -c $'console.log("no");\nconst x = ;')
is "$(json "$it" '[it["outcome"], it["ran"], it["error"]["line"], it["error"]["column"], it["stdout"]]')" \
	'["syntax_error", "no", 2, 11, ""]' "text that is no program does not run"
it=$(result -c 'import x from ;')
is "$(json "$it" '[it["outcome"], it["ran"]]')" '["syntax_error", "no"]' "nor text that is no module"
it=$(result --limit wall_ms=500 -c 'for (;;);')
is "$(json "$it" 'it["outcome"]')" wall_limit "the clock ends it"
it=$(result --limit stdout_bytes=1000 -c 'for (;;) console.log("x")')
is "$(json "$it" '[it["outcome"], len(it["stdout"])]')" '["output_limit", 1000]' "output, to the byte"
it=$(result --limit disk_bytes=1048576 -c 'require("fs").writeFileSync("big", Buffer.alloc(9000000))')
is "$(json "$it" '[it["outcome"], it["error"]["line"]]')" '["disk_limit", 1]' "disk"
if [[ $(id -u) == 0 ]]; then
	it=$(result --limit cpu_ms=400 -c 'for (;;);')
	is "$(json "$it" 'it["outcome"]')" cpu_limit "cpu"
	it=$(result --limit memory_bytes=192mb --limit wall_ms=60000 --limit cpu_ms=60000 -c 'const a = []; for (;;) a.push(Buffer.alloc(1e6, 1))')
	is "$(json "$it" 'it["outcome"]')" memory_limit "memory"
fi

# --- what it may not ------------------------------------------------------------------------------

js 0 "it starts no program" -c '
try { require("child_process").execFileSync("/usr/bin/node", ["-v"]); } catch (e) { console.log(e.code); }'
is "$out" EPERM "not even itself"
js 0 "it reaches no network" -c 'fetch("http://127.0.0.1/").catch((e) => console.log(e.cause.code))'
is "$out" EPERM "nor this host"
js 0 "it finds nothing of the host" -c '
const fs = require("fs");
console.log(fs.readdirSync("/usr/bin").join(), fs.readdirSync("/ced").join(),
  ["/proc/self", "/sys/kernel", "/home", "/root"].filter((p) => fs.existsSync(p)).length)'
is "$out" "node ced-libc.so 0" "but node, and what stands before its C library"
js 0 "a word that it forges ends only itself" -c '
const head = Buffer.alloc(16); head.writeUInt32LE(0x43454401, 0); head.writeUInt32LE(6, 4);
console.log("said"); require("fs").writeSync(3, head); for (;;);'
is "$out" said "and says no more than an exit would"
js 0 "two workers differ by chance" -c 'console.log(Math.random(), require("crypto").randomUUID())'
first=$out
js 0 "each from each" -c 'console.log(Math.random(), require("crypto").randomUUID())'
[[ $out != "$first" ]]
ok $? "in both ways"
exits 0 "strict runs what only computes" cectl run -l javascript --policy strict -c 'console.log([3, 1].sort())'
exits 126 "and nothing else" cectl run -l javascript --policy strict -c 'require("child_" + "process")'
like "$err" "javascript.import.denied" "and says which rule"
is "$(json "$(cectl runtimes --json)" '[(r["name"], r["kind"]) for r in it["runtimes"] if r["name"] == "javascript"]')" \
	'[["javascript", "node"]]' "runtimes tell what it is"

# --- where there is no room for a rehearsal ---------------------------------------------------------

js 0 "a worker has some descriptors" -c '
const isOpen = (fd) => { try { return require("fs").fstatSync(fd); } catch { return false; } };
console.log([...Array(64).keys()].filter(isOpen).at(-1))'
echo "runtime javascript { limits { open_files = $((out + 2)) } }" >>"$ced_folder/ced.conf"
daemon_stop
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
js 0 "and runs programs when it may have but one more" -c 'console.log("ran")'
is "$out" ran "without a rehearsal"
done_testing
