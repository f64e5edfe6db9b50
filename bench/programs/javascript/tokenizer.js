const NUMBER = 0;

const rules = { number: /\d+(\.\d*)?/, name: /[A-Za-z_]\w*/, string: /"[^"\n]*"/, operator: /==|<=|>=|[-+*/=<>(){};,]/, newline: /\n/, skip: /[ \t]+/, wrong: /./ };
const master = new RegExp(Object.entries(rules).map(([name, rule]) => `(?<${name}>${rule.source})`).join("|"), "g");
const source = `let total = ${NUMBER} + 3.5;\nwhile (total >= 10) {\n  print("total", total);\n  total = total - 1 @ 2\n}\n`;
let line = 1;
const kinds = {};
for (const match of source.matchAll(master)) {
	const kind = Object.keys(rules).find((name) => match.groups[name] !== undefined);
	kinds[kind] = (kinds[kind] || 0) + 1;
	if (kind === "newline") line++;
	if (kind === "wrong") console.log(`line ${line}: ${match[0]} is not known`);
}
console.log(kinds);
