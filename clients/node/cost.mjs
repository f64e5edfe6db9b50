// What the client adds to a run over a raw socket: node cost.mjs [ROUNDS].  Raw requests and those of
// the client take turns, each on a connection of its own, to the daemon at CED_SOCKET.  What counts is the
// time outside the daemon, without `total_us` and `record_us` of the result.  What the client adds is the
// median of the differences between the medians of every 50 rounds; the quartiles are in brackets.
import { connect } from "node:net";

import { decode, encode } from "@msgpack/msgpack";
import { Client } from "ced";

const WARM_UP = 50;
const BLOCK = 50;
const rounds = Number(process.argv[2] ?? 500);
const client = new Client();
const socket = connect(client.socket);
let arrived;
let came = Buffer.alloc(0);
socket.on("data", (chunk) => {
	came = came.length ? Buffer.concat([came, chunk]) : chunk;
	let answer;
	try {
		answer = decode(came);
	} catch (error) {
		if (error instanceof RangeError) return; // not all of it has come
		throw error;
	}
	came = Buffer.alloc(0);
	arrived(answer);
});

const raw = () =>
	new Promise((resolve) => {
		arrived = resolve;
		socket.write(encode([0, 1, "run", [{ language: "python", code: "print(1)" }]]));
	});
const timed = async (what, metricsOf, into) => {
	const began = process.hrtime.bigint();
	const result = await what();
	const took = Number(process.hrtime.bigint() - began) / 1000;
	const { total_us, record_us } = metricsOf(result);
	into.push(took - total_us - record_us);
};
const [plain, ours] = [[], []];
for (let i = 0; i < rounds + WARM_UP; i++) {
	await timed(raw, (answer) => answer[3].metrics, plain);
	await timed(() => client.run("print(1)"), (result) => result.metrics, ours);
}
const percentile = (list, part) => [...list].sort((a, b) => a - b)[Math.floor(part * list.length)];
const median = (list) => percentile(list, 0.5);
const shown = (name, times, raw) => {
	const differences = [];
	for (let at = 0; at < times.length; at += BLOCK)
		differences.push(median(times.slice(at, at + BLOCK)) - median(raw.slice(at, at + BLOCK)));
	const [low, middle, high] = [0.25, 0.5, 0.75].map((part) => percentile(differences, part).toFixed(0));
	console.log(`${name.padEnd(12)} outside the daemon: p50 ${median(times).toFixed(0)} us   p90 ${percentile(times, 0.9).toFixed(0)} us   ` +
		`p50 over raw ${middle} us [${low} ${high}]`);
};
shown("raw", plain.slice(WARM_UP), plain.slice(WARM_UP));
shown("Client", ours.slice(WARM_UP), plain.slice(WARM_UP));
socket.destroy();
client.close();
