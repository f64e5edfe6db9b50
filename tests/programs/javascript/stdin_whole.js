// stdin: {"name": "Ada", "born": 1815, "tags": ["math", "ünïcode"]}
const person = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(`${person.name} would be ${2020 - person.born}`, person.tags.map((tag) => tag.toUpperCase()));
