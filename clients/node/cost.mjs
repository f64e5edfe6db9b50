// What the client adds to a run over a raw socket: node cost.mjs [ROUNDS].  Raw requests and those of
// the client take turns, each on a connection of its own, to the daemon at CED_SOCKET.
import { connect } from "node:net";

import { Client, Core } from "ced";

const rounds = Number(process.argv[2] ?? 500);
const client = new Client();
const core = new Core();
const socket = connect(client.socket);
let arrived;
socket.on("data", (chunk) => core.feed(chunk).forEach((message) => arrived(message)));

const raw = () =>
	new Promise((resolve) => {
		arrived = resolve;
		socket.write(core.request("run", { language: "python", code: "print(1)" }).bytes);
	});
const timed = async (what, into) => {
	const began = process.hrtime.bigint();
	await what();
	into.push(Number(process.hrtime.bigint() - began) / 1000);
};
const [plain, ours] = [[], []];
for (let i = 0; i < rounds + 50; i++) {
	await timed(raw, plain);
	await timed(() => client.run("print(1)"), ours);
}
const percentile = (list, part) => list.slice(50).sort((a, b) => a - b)[Math.floor(part * rounds)].toFixed(0);
for (const part of [0.5, 0.9])
	console.log(`p${100 * part}: raw ${percentile(plain, part)} us, client ${percentile(ours, part)} us`);
socket.destroy();
client.close();
