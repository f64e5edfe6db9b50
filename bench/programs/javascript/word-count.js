const NUMBER = 0;

const text = `It was the best of times, it was the worst of times, it was the age of wisdom,
it was the age of foolishness, chapter ${NUMBER % 10}`;
const words = text.toLowerCase().match(/[a-z0-9]+/g);
const counts = words.reduce((map, word) => map.set(word, (map.get(word) || 0) + 1), new Map());
const top = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 6);
for (const [word, count] of top) console.log(`${word.padEnd(10)}${"#".repeat(count)} ${count}`);
console.log(words.length, counts.size, Math.max(...words.map((word) => word.length)));
