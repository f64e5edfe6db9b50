// stdin: a,b,c\n1,2,3\n4,5,6\n
let text = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (piece) => (text += piece));
process.stdin.on('end', () => {
  const [head, ...rows] = text.trim().split('\n').map((line) => line.split(','));
  console.table(rows.map((row) => Object.fromEntries(row.map((cell, i) => [head[i], +cell]))));
});
