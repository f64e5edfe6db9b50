const NUMBER = 0;

const graph = new Map();
const connect = (a, b, cost) => {
	for (const [from, to] of [[a, b], [b, a]]) {
		if (!graph.has(from)) graph.set(from, []);
		graph.get(from).push([to, cost]);
	}
};
for (let i = 0; i < 20; i++) {
	connect(`n${i}`, `n${(i + 1) % 20}`, ((i * 7 + NUMBER) % 11) + 1);
	connect(`n${i}`, `n${(i * 3 + 2) % 20}`, ((i * 5) % 13) + 2);
}
const distance = { n0: 0 };
const before = {};
const open = new Set(["n0"]);
while (open.size) {
	const node = [...open].reduce((a, b) => (distance[a] <= distance[b] ? a : b));
	open.delete(node);
	for (const [next, cost] of graph.get(node)) {
		const far = distance[node] + cost;
		if (far < (distance[next] ?? Infinity)) {
			distance[next] = far;
			before[next] = node;
			open.add(next);
		}
	}
}
const goal = Object.keys(distance).sort((a, b) => distance[b] - distance[a])[0];
const path = [goal];
while (path[0] !== "n0") path.unshift(before[path[0]]);
console.log(goal, distance[goal], path.join(" -> "));
