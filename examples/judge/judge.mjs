// Candidate code against example cases and properties: each case is a run of its own, all at once.
import { Client } from "ced";

const candidate = `
import json, sys

def merge(spans):
    spans.sort()
    merged = [spans[0]]
    for begin, end in spans[1:]:
        if begin < merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return merged

print(json.dumps(merge(json.load(sys.stdin))))`;

const random = Array.from({ length: 60 }, (_, i) => [(i * 7919) % 1000, ((i * 7919) % 1000) + 1 + (i % 9)]);
const points = (spans) => new Set(spans.flatMap(([a, b]) => Array.from({ length: b - a }, (_, i) => a + i)));
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

const cases = [
	{ name: "two that overlap", input: [[1, 4], [2, 6]], holds: (out) => same(out, [[1, 6]]) },
	{ name: "one inside another", input: [[1, 9], [2, 3]], holds: (out) => same(out, [[1, 9]]) },
	{ name: "two that touch", input: [[1, 2], [2, 3]], holds: (out) => same(out, [[1, 3]]) },
	{ name: "none", input: [], holds: (out) => same(out, []) },
	{ name: "property: no two overlap", input: random, holds: (out) => out.every(([a], i) => !i || out[i - 1][1] <= a) },
	{ name: "property: no point is lost", input: random, holds: (out) => points(out).size === points(random).size },
];

const client = new Client();
const point = { type: "integer", minimum: 0, maximum: 2000 }; // the candidate is not trusted: no answer may be huge
const schema = { type: "array", maxItems: 100, items: { type: "array", items: point, minItems: 2, maxItems: 2 } };
const verdicts = await Promise.all(cases.map(async ({ name, input, holds }) => {
	const result = await client.run(candidate, { input, schema, limits: { wall_ms: 20000 }, cache: "use" });
	const passed = result.ok && holds(result.value);
	const why = result.ok ? `gave ${JSON.stringify(result.value)}` : result.reason;
	return `${passed ? "pass" : "FAIL"}  ${name}${passed ? "" : `: ${why}`}`;
}));
console.log(verdicts.join("\n"));
client.close();
