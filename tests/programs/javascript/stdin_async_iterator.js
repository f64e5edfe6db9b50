// stdin: 3 apples\n5 pears\n7 plums\n
const { createInterface } = require('readline');
(async () => {
  let total = 0;
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) total += parseInt(line, 10);
  console.log('fruit:', total);
})();
