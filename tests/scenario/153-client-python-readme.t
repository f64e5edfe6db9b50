#!/bin/bash
# The page of the client for Python shows what one gets.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/python_client.sh"
[[ $(id -u) == 0 ]] || skip_all "sessions need cgroups"
/usr/bin/python3 -c 'import pydantic' 2>/dev/null || bail "python3-pydantic is not here: ./dev setup test installs it"
patient_daemon 'runtime python-data { workers_min = 1 workers_max = 2 }'
cat >blocks.py <<'PY'
import re
import sys

blocks = re.findall(r"^```(\w+)\n(.*?)^```$", open(sys.argv[1], encoding="utf-8").read(), re.M | re.S)
programs = [number for number, (language, _) in enumerate(blocks) if language == "python"]
for number in programs:
    assert blocks[number + 1][0] == "output", f"program {number} has no output"
    for suffix, text in (("py", blocks[number][1]), ("out", blocks[number + 1][1])):
        open(f"{number}.{suffix}", "w", encoding="utf-8").write(text)
    print(number)
PY
mapfile -t programs < <(/usr/bin/python3 blocks.py "$client/README.md")
is "${#programs[@]}" 10 "the page has its ten programs"
for number in "${programs[@]}"; do
	exits 0 "program $number runs as it stands: $(sed -n '/^[a-z]/{/^import\|^from/!p}' "$number.py" | head -n 1)" /usr/bin/python3 "$number.py"
	is "$out" "$(<"$number.out")" "and prints what the page says"
done
done_testing
