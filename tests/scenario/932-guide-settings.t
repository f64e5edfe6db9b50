#!/bin/bash
# The pages of docs/guide that need an administrator: approvals, package sets, a network.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/packages.sh"
. "$here/nets.sh"
. "$here/guide.sh"

mkdir "$work/wheels"
wheel "$work/wheels" greet 1.0 $'def hi():\n    return "hello from the set"\n'
page_places+=([/srv/wheels]=$work/wheels [/srv/ced/sets]=$sets)

# The pages' host is one of ours, and the server of names knows it.
nets_servers
page_places+=([api.example.org:8080]=api.test:$(nets_port http) [packages.example]=pages.test)
echo hello >"$nets/www/hello"
guide_egress="private = {\"127.0.0.1\"} resolvers = {\"127.0.0.1:$(nets_port dns)\"}"

guide_pages approvals packages egress

# What root installs is the machine's, and is there.
# shellcheck disable=SC2317 # the page calls it
apt-get() {
	dpkg --status "${@:3}" >/dev/null
}
if /usr/bin/python3 -c 'import numpy, pandas, matplotlib' 2>/dev/null; then
	type_page "$guide/packages.md" --typed-by 932-guide-settings
	is "$page_typed" 2 "python-data: the lines that switch it on, and a program"
else
	diag "no numpy, pandas and matplotlib here (./dev setup data): nobody types the lines about python-data"
fi
done_testing
