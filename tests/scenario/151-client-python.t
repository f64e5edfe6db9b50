#!/bin/bash
# The client for Python: its own tests against a daemon, its types, and how many of its lines they reach.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/python_client.sh"
[[ $(id -u) == 0 ]] || skip_all "sessions need cgroups, and an approver is another user"
/usr/bin/python3 -c 'import coverage, pydantic, pytest' 2>/dev/null || bail "python3-coverage, python3-pydantic or python3-pytest is not here: ./dev setup test installs them"
python_tests_daemon

cd "$client/tests" || bail "no folder $client/tests"
export COVERAGE_FILE=$work/coverage
/usr/bin/python3 -m coverage run --source="$client/src/ced" -m unittest test_parts test_client test_aio test_faces >"$work/said" 2>&1
ok $? "the tests pass: $(grep '^Ran' "$work/said")"
tail -n 40 "$work/said" | sed 's/^/# /'
/usr/bin/python3 -m coverage report --fail-under=90 --skip-covered >"$work/report" 2>&1
ok $? "they reach at least 90 of 100 lines: $(grep ^TOTAL "$work/report" | tr -s " ")"
report "$work/report"
like "$(grep ^TOTAL "$work/report" | tr -s ' ')" '^TOTAL [1-9][0-9]{3} ' "of all modules"

if command -v mypy >/dev/null; then
	exits 0 "the types are right, strictly" /usr/bin/python3 -m mypy --config-file "$client/pyproject.toml" \
		--cache-dir "$work/mypy" --enable-incomplete-feature=Unpack "$client/src/ced"
	cat >"$work/typed.py" <<'END'
import ced
from pydantic import BaseModel


class Sum(BaseModel):
    total: int


with ced.Client() as client:
    n: int = client.run("1").stdout_bytes
    value = client.run("1", schema=Sum, limits={"wall_ms": 3}).value
    assert value is not None
    total: int = value.total
    page = client.runs_list(limit=3)["runs"]


async def main() -> None:
    async with ced.AsyncClient() as client, client.session() as session:
        text: str = (await session.run("1")).text
        status = (await client.admin_status())["ready"]
END
	sed 's/limits={"wall_ms": 3}/limitz={"wall_ms": 3}/; s/n: int/n: str/' "$work/typed.py" >"$work/wrong.py"
	export MYPYPATH=$client/src
	mypy=(/usr/bin/python3 -m mypy --strict --ignore-missing-imports --cache-dir "$work/mypy" --enable-incomplete-feature=Unpack)
	exits 0 "and a program that uses them passes" "${mypy[@]}" "$work/typed.py"
	exits 1 "one with a wrong name and a wrong type does not" "${mypy[@]}" "$work/wrong.py"
	is "$(grep -c error: <<<"$out")" 2 "and mypy says both"
else
	bail "mypy is not here: ./dev setup test installs it"
fi
is "$(cectl session list 2>&1)" "cectl: no session is open" "the tests leave no session"
exits 0 "the record holds" cectl audit verify
done_testing
