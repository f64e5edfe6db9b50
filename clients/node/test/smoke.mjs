import { run, Client } from "ced";
const r = await run("print(6*7)"); console.log(r.outcome, r.stdout);
const c = new Client();
const s = c.stream("import time\nfor i in range(3): print(i)\nprint('é')");
for await (const e of s) console.log(e);
console.log((await s.result).outcome, await c.runsList({limit:1}).then(r=>r.runs.length));
