#!/bin/bash
# What the guide says to type on Debian 12 installs both clients, and the first lines of each page run.
# Nothing is fetched: pip finds Debian's own wheels, npm what the build has fetched.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/blocks.sh"
repository=$(cd "$here/../.." && pwd)
packages=$repository/build/node-client
guide=$repository/docs/guide
[[ -d $packages/node_modules/typescript ]] || bail "build/node-client has no packages: build the target node_client_packages"
[[ -n $(compgen -G '/usr/share/python-wheels/wheel-*.whl') ]] || bail "python3-wheel-whl is not here: ./dev setup test installs it"
daemon_start

# A clone, as far as the lines need it.
mkdir -p "$work/ced/clients" "$work/home"
cp -r "$repository/clients/python" "$repository/clients/node" "$work/ced/clients/"
rm -rf "$work"/ced/clients/python/{build,src/*.egg-info} "$work"/ced/clients/node/{dist,node_modules}
cp -r "$packages/node_modules" "$work/ced/clients/node/"
export HOME=$work/home PIP_NO_INDEX=1 PIP_FIND_LINKS=/usr/share/python-wheels PIP_CONFIG_FILE=/dev/null PIP_DISABLE_PIP_VERSION_CHECK=1
export npm_config_offline=true npm_config_audit=false npm_config_fund=false npm_config_cache=$packages/npm-cache
cd "$work/ced" || bail "no clone"
PATH=$(dirname "$(command -v cectl)"):/usr/bin:$PATH # the python3 and the npm of Debian come first

# Root's packages are the machine's.  What they are to bring must be there.
# shellcheck disable=SC2317 # the lines call it
sudo() {
	[[ "$1 $2 $3" == 'apt-get install --yes' ]] && dpkg --status "${@:4}" >/dev/null
}

if /usr/bin/python3 -m pip --version >/dev/null 2>&1; then
	exits 1 "outside of a virtual environment, Debian's pip refuses" /usr/bin/python3 -m pip install ./clients/python
	like "$err" 'externally-managed-environment' "with the words that the page explains"
fi
first_of "$guide/python.md" python >first.py
eval "$(block_of "$guide/python.md" 931-install)" >"$work/said" 2>&1
ok $? "the lines of python.md install the client"
diag "$(tail -n 5 "$work/said")"
is "$(type -P python)" "$HOME/ced-env/bin/python" "the environment is active"
exits 0 "its first program runs" python first.py
is "$out" "$(first_of "$guide/python.md" output)" "and prints what the page says"
exits 0 "it uses what was installed" python -c 'import ced; print(ced.__file__)'
like "$out" '^/.*/ced-env/lib/.*/ced/__init__.py' "and not the clone"
deactivate

eval "$(block_of "$guide/typescript.md" 931-install)" >"$work/said" 2>&1
ok $? "the lines of typescript.md install the client"
diag "$(tail -n 5 "$work/said")"
first_of "$guide/typescript.md" js >"$HOME/agent/first.mjs"
exits 0 "its first program runs" node "$HOME/agent/first.mjs"
is "$out" "$(first_of "$guide/typescript.md" output)" "and prints what the page says"
done_testing
