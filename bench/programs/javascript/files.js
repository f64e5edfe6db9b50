const NUMBER = 0;

const fs = require("fs");
const os = require("os");
const path = require("path");

const root = fs.mkdtempSync(path.join(os.tmpdir(), "tree-"));
const files = { "README.txt": "hello\n", "src/main.js": "console.log(1)\n", "src/lib/text.js": `exports.n = ${NUMBER};\n` };
for (const [name, text] of Object.entries(files)) {
	const file = path.join(root, name);
	fs.mkdirSync(path.dirname(file), { recursive: true });
	fs.writeFileSync(file, text);
}
const walk = (folder) =>
	fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
		const full = path.join(folder, entry.name);
		return entry.isDirectory() ? walk(full) : [path.relative(root, full)];
	});
console.log(walk(root).sort());
console.log(fs.readFileSync(path.join(root, "src/main.js"), "utf8").trim());
fs.rmSync(root, { recursive: true });
console.log(fs.existsSync(root));
