#!/bin/bash
# An error in another file than the program itself is told with that file's name.
. "$(dirname "$0")/lib.sh"
daemon_start
cd "$work" || exit 1

printf 'def ratio(part):\n\n\n    return 1 / part\n' >helpers.py
printf 'import helpers\n\n# four\n# also\n\nhelpers.ratio(0)\n' >main.py
printf 'exports.ratio = (part) => {\n\n\n  return part.of.all;\n};\n' >helpers.js
printf 'const { ratio } = require("./helpers");\n// two\n// three\n// four\nratio({});\n' >main.js

# told PROGRAM HELPER: what is said of its error.
told() {
	json "$(cectl run --json "$1" -f "$2" 2>/dev/null)" \
		'[it["error"].get("file"), it["error"]["line"], it["reason"].split(":")[0]]'
}

is "$(told main.py helpers.py)" '["helpers.py", 4, "Uncaught ZeroDivisionError at line 4 of helpers.py"]' "Python: the file and its line"
exits 0 "show" cectl show last
like "$out" 'error .*\(line 4 of helpers.py\)' "names the file"
is "$(grep -c '▸' <<<"$out")" 0 "and marks no line of the program"
exits 0 "explain" cectl explain last
like "$out" 'Change line 4 of helpers.py' "says what to change"
unlike "$out" 'Change line 4,' "and nothing of the program's own line"
is "$(told main.js helpers.js)" '["helpers.js", 4, "Uncaught TypeError at line 4 of helpers.js"]' "node: the file and its line"

printf 'ratio = (;\n' >helpers.js
is "$(told main.js helpers.js)" '["helpers.js", 1, "Uncaught SyntaxError at line 1 of helpers.js"]' "and of one that does not compile"
printf 'import helpers\n\n# four\n1 / 0\n' >main.py
is "$(told main.py helpers.py)" '[null, 4, "Uncaught ZeroDivisionError at line 4"]' "the program itself is not named"
exits 0 "show" cectl show last
like "$out" '▸ +4  1 / 0' "marks its line"
done_testing
