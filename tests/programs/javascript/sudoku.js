// stdin: 530070000600195000098000060800060003400803001700020006060000280000419005000080079
const cells = [...require('fs').readFileSync(0, 'utf8').trim()].map(Number);
const fits = (at, n) => { const r = Math.floor(at / 9), c = at % 9, b = 27 * Math.floor(r / 3) + 3 * Math.floor(c / 3); for (let i = 0; i < 9; i++) if (cells[r * 9 + i] === n || cells[i * 9 + c] === n || cells[b + 9 * Math.floor(i / 3) + (i % 3)] === n) return false; return true; };
const solve = (at = cells.indexOf(0)) => { if (at < 0) return true; for (let n = 1; n <= 9; n++) if (fits(at, n)) { cells[at] = n; if (solve(cells.indexOf(0))) return true; } cells[at] = 0; return false; };
console.log(solve());
for (let r = 0; r < 9; r++) console.log(cells.slice(r * 9, r * 9 + 9).join(' '));
