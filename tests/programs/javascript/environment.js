// env: COLOUR=blue
// env: EMPTY=
console.log(process.env.COLOUR, JSON.stringify(process.env.EMPTY), process.env.NOTHING, process.env.TZ);
process.env.MADE = 5;
console.log(typeof process.env.MADE, 'MADE' in process.env, delete process.env.MADE, process.env.MADE);
