#!/bin/bash
# The packed client for node: installed in an empty folder, by import, by require, and with its types.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/node_client.sh"
node_client_build || bail "clients/node does not build"
daemon_start
said=$(cd "$client" && npm pack --silent --cache "$work/npm" --pack-destination "$work" 2>&1)
ok $? "npm packs it" "$said"
package=$(ls "$work"/ced-*.tgz)
files=$(tar -tzf "$package" | grep -vE '^package/(dist/|README.md$|package.json$)')
is "$files" "" "the package has what is built, its page and nothing else"

# The dependency is packed, too, so that npm needs no network to install both.
empty=$work/empty
mkdir "$empty"
(cd "$client/node_modules/@msgpack/msgpack/" && npm pack --silent --ignore-scripts --cache "$work/npm" --pack-destination "$work" >/dev/null 2>&1)
said=$(cd "$empty" && npm init -y >/dev/null 2>&1 &&
	npm install --offline --no-audit --no-fund --cache "$work/npm" "$work"/msgpack-msgpack-*.tgz "$package" 2>&1)
ok $? "npm installs it in an empty folder without a network" "$said"

cat >"$empty/a.mjs" <<'END'
import { run } from "ced";
console.log((await run("print('by import')")).stdout.trim());
END
cat >"$empty/b.cjs" <<'END'
const { Client } = require("ced");
new Client().run("print('by require')").then((result) => console.log(result.stdout.trim()));
END
is "$(cd "$empty" && node a.mjs 2>&1)" "by import" "import works"
is "$(cd "$empty" && node b.cjs 2>&1)" "by require" "require works"

cat >"$empty/typed.mts" <<'END'
import { Client, run, type Result } from "ced";
const result: Result<{ n: number }> = await run("print(1)", { schema: { parse: (value: unknown) => value as { n: number } } });
const n: number | undefined = result.value?.n;
await new Client().runsList({ limit: n });
END
cp "$empty/typed.mts" "$empty/wrong.mts"
sed 's/import {/import type {} from "ced"; import {/; /^await/d; s/= await run/= run/; s/const result.*= run/const result = run/; /const n:/d' \
	"$empty/typed.mts" >"$empty/typed.cts"
echo 'console.log(result.artifacts?.map((each) => each.path), result.error?.line, result.of_a_newer_daemon);' >>"$empty/typed.mts"
cat >>"$empty/wrong.mts" <<'END'
const wrong: number = result.outcome; void wrong;
await run("1", { limitz: {} });
const code: string = result.exit_code; void code;
END
compile() {
	(cd "$empty" && node "$client/node_modules/typescript/bin/tsc" --noEmit --strict --skipLibCheck --target es2022 \
		--module nodenext --typeRoots "$client/node_modules/@types" --types node "$@" 2>&1)
}
said=$(compile typed.mts typed.cts)
ok $? "a program with its types compiles" "$said"
mkdir "$empty/stock"
cat >"$empty/stock/loops.mts" <<'END'
import { Client } from "ced";
const client = new Client("/its/ced.sock");
for await (const event of client.events()) console.log(event.kind);
for await (const event of await client.events()) console.log(event.kind);
await using session = await client.openSession();
await session.run("1", { files: { a: { from: "/a" }, b: "text", c: { blob: "sha256:" } } });
END
said=$(cd "$empty/stock" && node "$client/node_modules/typescript/bin/tsc" --noEmit --strict --target es2022 --module nodenext loops.mts 2>&1)
ok $? "the client's own types have no errors, even without the types of node" "$said"
said=$(compile wrong.mts)
[[ $said == *"wrong.mts(5,7): error TS2322"*"wrong.mts(6,18): error TS2561"*"wrong.mts(7,7): error TS2322"* ]]
ok $? "a program that uses types wrongly does not"
diag "$said"
done_testing
