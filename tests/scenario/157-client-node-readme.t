#!/bin/bash
# Each example in clients/node/README.md prints what the page says.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/node_client.sh"
node_client_build || bail "clients/node does not build"
daemon_start
cd "$client" || bail "no folder $client"
/usr/bin/python3 - <<'END'
import pathlib, re
page = pathlib.Path("README.md").read_text()
examples = re.findall(r"```js\n(.*?)```\n\n```output\n(.*?)```", page, re.S)
assert len(examples) == page.count("```js"), "each example has its output"
for number, (code, output) in enumerate(examples, 1):
    pathlib.Path(f"example-{number}.mjs").write_text(code)
    pathlib.Path(f"example-{number}.output").write_text(output)
END
ok $? "each example of the page has its output"
for example in example-*.mjs; do
	is "$(node "$example" 2>&1)" "$(cat "${example%.mjs}.output")" "$example"
done
done_testing
