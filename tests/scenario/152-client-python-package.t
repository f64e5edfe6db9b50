#!/bin/bash
# The client for Python as wheel and sdist: built from the folder without a network, installed, used.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
. "$here/python_client.sh"
unset PYTHONPATH
export PIP_NO_INDEX=1 PIP_CONFIG_FILE=/dev/null PIP_DISABLE_PIP_VERSION_CHECK=1 HOME=$work
daemon_start

mkdir "$work/source"
cp -r "$client"/{pyproject.toml,README.md,src} "$work/source/"
rm -rf "$work"/source/src/*.egg-info
exits 0 "wheel and sdist are built" /usr/bin/python3 -m build --no-isolation --outdir "$work/built" "$work/source"
wheel=$(echo "$work"/built/ced-*-py3-none-any.whl)
sdist=$(echo "$work"/built/ced-*.tar.gz)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$client/pyproject.toml")
is "$(basename "$wheel") $(basename "$sdist")" "ced-$version-py3-none-any.whl ced-$version.tar.gz" "with the version of the project"
is "$version" "$(cectl --version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+')" "which is that of ced"
has() { /usr/bin/python3 -m zipfile -l "$wheel" | sed -n 's/^\(ced[^ ]*\) .*/\1/p' | grep -v dist-info | sort | tr '\n' ' '; }
is "$(has)" "$(cd "$client/src" && printf '%s\n' ced/*.py ced/py.typed | sort | tr '\n' ' ')" "the wheel has the modules, py.typed, and nothing else"
like "$(unzip -p "$wheel" '*/METADATA' 2>/dev/null || /usr/bin/python3 -c "
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as file: print(file.read(next(n for n in file.namelist() if n.endswith('METADATA'))).decode())" "$wheel")" \
	$'Requires-Python: >=3.9\n.*Requires-Dist: msgpack' "it needs Python 3.9 and msgpack alone"

cat >use.py <<'PY'
import ced

assert "clients/python" not in ced.__file__, ced.__file__
with ced.Client() as client:
    print(client.run("print(6 * 7)").text, end="")
PY
for package in "$wheel" "$sdist" "$work/source"; do
	name=$(basename "$package")
	/usr/bin/python3 -m venv --system-site-packages "$work/venv-$name" || bail "no venv"
	exits 0 "$name is installed" "$work/venv-$name/bin/pip" install -q --no-build-isolation "$package"
	exits 0 "and used" "$work/venv-$name/bin/python" use.py
	is "$out" 42 "and runs programs"
	exits 0 "pip finds all that it needs" "$work/venv-$name/bin/python" -c 'import importlib.metadata as m; print(m.requires("ced"))'
	like "$out" "^\['msgpack ?\(?>=1.0\)?'\]$" "msgpack"
done
cat >test_it.py <<'PY'
def test_it(ced_session):
    ced_session.run("n = 3")
    assert ced_session.run("print(n)").text == "3\n"
PY
exits 0 "pytest finds the fixtures of what is installed" "$work/venv-$(basename "$wheel")/bin/python" -m pytest -q -p no:cacheprovider test_it.py
like "$out" '1 passed' "and the test passes"
done_testing
