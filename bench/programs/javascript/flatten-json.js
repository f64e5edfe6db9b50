const NUMBER = 0;

const document = JSON.parse('{"user":{"name":"Ann","tags":["a","b"]},"orders":[{"id":1,"lines":[{"sku":"x1","n":2}]}],"score":null}');
document.orders.push({ id: NUMBER, lines: [] });

function* flatten(value, path = "") {
	if (Array.isArray(value)) {
		if (!value.length) yield [path, []];
		for (const [index, inner] of value.entries()) yield* flatten(inner, `${path}[${index}]`);
	} else if (value && typeof value === "object") {
		for (const [key, inner] of Object.entries(value)) yield* flatten(inner, path ? `${path}.${key}` : key);
	} else {
		yield [path, value];
	}
}

const flat = Object.fromEntries(flatten(document));
for (const path of Object.keys(flat).sort()) console.log(`${path} = ${JSON.stringify(flat[path])}`);
const copy = structuredClone(document);
copy.user.tags.push("c");
console.log(Object.keys(flat).length, document.user.tags.length, copy.user.tags.length);
