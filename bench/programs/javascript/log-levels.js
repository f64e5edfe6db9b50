const NUMBER = 0;

const pattern = /^(?<time>\S+) (?<level>[A-Z]+) \[(?<part>\w+)\] (?<text>.*)$/;
const levels = ["INFO", "INFO", "WARNING", "ERROR"];
const log = Array.from(
	{ length: 50 },
	(_, i) => `2024-03-01T${String(i % 24).padStart(2, "0")}:00:00Z ${levels[(i + NUMBER) % 4]} [web] request ${i} took ${(i * 37) % 900} ms`,
);
const counts = {};
let slowest = { ms: -1 };
for (const line of log) {
	const match = pattern.exec(line);
	if (!match) continue;
	counts[match.groups.level] = (counts[match.groups.level] || 0) + 1;
	const ms = Number(/took (\d+) ms/.exec(match.groups.text)[1]);
	if (ms > slowest.ms) slowest = { ms, text: match.groups.text };
}
for (const [level, count] of Object.entries(counts).sort()) console.log(level.padEnd(8), count);
console.log("slowest:", slowest.text);
