#!/bin/bash
# A worker of node is a copy of one that has threads: its own threads work, and it ends as node does.
# shellcheck disable=SC2016 # what stands in single quotes is for node in the jail
. "$(dirname "$0")/lib.sh"
[[ -x /usr/bin/node ]] || skip_all "there is no node at /usr/bin"
daemon_start

js() { # exit code, output, name, program
	exits "$1" "$3" cectl run -l javascript --limit wall=30s --limit cpu=30s -c "$4"
	is "$out" "$2" "$3: what it prints"
}

# --- threads that node starts in its beginning, and others --------------------------------------

js 0 5 "WebAssembly is compiled by a thread of the engine" '
const bytes = Buffer.from("0061736d0100000001070160027f7f017f030201000707010361646400000a09010700200020016a0b", "hex");
WebAssembly.instantiate(bytes).then(({ instance }) => console.log(instance.exports.add(2, 3)));'
js 0 1000000 "garbage is collected with threads" '
const all = []; for (let i = 0; i < 1e6; i++) all.push({ i, text: String(i) }); console.log(all.length);'
js 0 "29 a9ad83929ae9ec538bc0f44e36ada66f" "files, compression and hashes come from threads of libuv" '
const { promisify } = require("util"); const fs = require("fs").promises;
(async () => {
  await fs.writeFile("text", "a".repeat(1000));
  const packed = await promisify(require("zlib").gzip)(await fs.readFile("text"));
  const hash = await promisify(require("crypto").pbkdf2)("a", "b", 1000, 16, "sha256");
  console.log(packed.length, hash.toString("hex"));
})();'
js 0 "1000 0" "threads of the program work and end" '
const { Worker } = require("worker_threads");
const worker = new Worker("require(\"worker_threads\").parentPort.postMessage([...Array(1000)].length)", { eval: true });
let got; worker.on("message", (n) => got = n); worker.on("exit", (code) => console.log(got, code));'

# --- the end, by way of what the program has left for it ------------------------------------------

js 7 "bye 7" "a listener hears of the end" 'process.on("exit", (code) => console.log("bye", code)); process.exitCode = 7;'
js 3 "" "process.exit() with a listener" 'process.on("exit", () => {}); process.exit(3);'
js 1 "bye 1" "an error ends it, with a listener" 'process.on("exit", (code) => console.log("bye", code)); setTimeout(() => { throw new Error("late"); }, 1);'
js 0 "read" "threads of libuv end with it" '
process.on("exit", () => {}); require("fs").promises.readFile("main.js").then(() => console.log("read"));'
js 5 "" "so do those of the program" '
new (require("worker_threads").Worker)("setInterval(() => {}, 1000)", { eval: true });
process.on("exit", () => {}); setTimeout(() => process.exit(5), 50);'
js 0 "heard" "a signal of its own is heard" '
const timer = setInterval(() => {}, 1000); process.on("SIGUSR2", () => { console.log("heard"); clearInterval(timer); });
process.kill(process.pid, "SIGUSR2");'

# --- what is its own ----------------------------------------------------------------------------

for name in 'Math.random()' 'require("crypto").randomUUID()' 'require("crypto").randomInt(2 ** 40)'; do
	for ((i = 0; i < 8; i++)); do cectl run -l javascript -c "console.log($name) // $i"; done >numbers
	is "$(sort -u numbers | wc -l)" 8 "$name differs from run to run"
done
# 256 beginnings are possible, so two of twelve may be alike.
for ((i = 0; i < 12; i++)); do cectl run -l javascript -c "console.log(require('vm').runInNewContext('Math.random()')) // $i"; done >numbers
[[ $(sort -u numbers | wc -l) -gt 6 ]]
ok $? "in a new context it mostly differs"
js 0 3 "and in each thread" '
const { Worker } = require("worker_threads"); const seen = new Set([Math.random()]); let left = 2;
for (let i = 0; i < 2; i++) new Worker("require(\"worker_threads\").parentPort.postMessage(Math.random())", { eval: true })
  .on("message", (n) => { seen.add(n); if (!--left) console.log(seen.size); });'
js 0 "true true 2" "its clocks agree, and its number is its own" '
performance.mark("a"); const [{ startTime }] = performance.getEntriesByName("a"); const now = performance.now();
console.log(now >= startTime && now - startTime < 60000, Math.abs(performance.timeOrigin + now - Date.now()) < 1000, process.pid);'
js 0 true "a timer counts from now" '
const began = Date.now(); setTimeout(() => console.log(Date.now() - began >= 99), 100);'

# --- a zygote that is not young -------------------------------------------------------------------

# Eight seconds after its start V8 looks for memory to give back.  A worker whose clock begins with that of
# its zygote would do it in each run.
age='console.log(Math.round(performance.now()))'
collections='
const { PerformanceObserver } = require("perf_hooks"); let count = 0;
new PerformanceObserver((list) => count += list.getEntries().length).observe({ entryTypes: ["gc"] });
setTimeout(() => console.log(count), 1000);'
for ((i = 0; i < 60; i++)); do
	[[ $(cectl run -l javascript -c "$age") -lt 9000 ]] || break
	sleep 0.5
done
[[ $i -lt 60 ]]
ok $? "the clock of a worker is that of its zygote"
js 0 0 "a small program of an old zygote collects no garbage" "$collections"
done_testing
