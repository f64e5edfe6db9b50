# Sourced after lib.sh by scenarios that run the recipes of examples/.
# shellcheck shell=bash disable=SC2154
source=$(cd "${CED_SOURCE:-${here:?}/../..}" && pwd)
/usr/bin/python3 -c 'import msgpack' 2>/dev/null || bail "python3-msgpack is not here: ./dev setup test installs it"

# The work folder is like a clone whose client for Python was installed.
cp -r "$source/examples" examples
mkdir tools
ln -s /usr/bin/python3 tools/python3
export PATH=$work/tools:$PATH PYTHONPATH=$source/clients/python/src PYTHONDONTWRITEBYTECODE=1

# recipe NAME [PREFIX...]: the commands in examples/NAME/README.md print what the page says.
# With recipes_write=yes in the environment they write what they print into the page.
recipe() {
	local page=examples/$1/README.md name=$1
	shift
	exits 0 "examples/$name does what its page shows" "$@" /usr/bin/python3 "$here/recipes.py" ${recipes_write:+--write} "$page"
	[[ -z ${recipes_write:-} ]] || cp "$page" "$source/$page"
}
