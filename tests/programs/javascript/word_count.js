// stdin: the quick brown fox\njumps over the lazy dog the end\n
const counts = new Map();
for (const word of require('fs').readFileSync(0, 'utf8').match(/\w+/g)) counts.set(word, (counts.get(word) ?? 0) + 1);
for (const [word, count] of [...counts].sort(([a, m], [b, n]) => n - m || a.localeCompare(b)).slice(0, 5)) console.log(`${String(count).padStart(3)} ${word}`);
