# Sourced by the scenarios of docs/guide, after lib.sh: a user who runs agents, root beside them, and
# the places that the pages name.
# shellcheck shell=bash disable=SC2034,SC2154
. "$here/pages.sh"
guide=$(cd "$here/../../docs/guide" && pwd)
[[ $(id -u) == 0 ]] || skip_all "the pages have two users and sessions"

# Another user cannot read root's checkout everywhere.
guide_agent=4001
mkdir -m 755 "$work/python" "$work/etc"
cp -r "$here/../../clients/python/src/ced" "$work/python/"
chmod -R a+rX "$work/python"
export PYTHONPATH=$work/python PYTHONDONTWRITEBYTECODE=1
page_places[/etc/ced]=$work/etc

guide_as() {
	setpriv --reuid "$guide_agent" --regid "$guide_agent" --clear-groups "$@"
}
page_as=(guide_as)

# shellcheck disable=SC2317 # pages call these
{
	cectl() { guide_as cectl "$@"; }
	sudo() {
		if [[ $1 == cectl ]]; then command "$@"; else "$@"; fi
	}
	python3() { guide_as /usr/bin/python3 "$@"; }
	systemctl() {
		[[ "$*" == 'restart ced' ]] || return 0
		page_settings "$work/etc/ced.conf"
		for _ in {1..600}; do
			command cectl packages list | grep -q checking || break
			sleep 0.1
		done
	}
}

# What the pages write into /etc/ced/ced.conf, and what this machine needs besides: patience, a socket for
# two users, and where the names of egress are known.
guide_egress=
page_settings() {
	{
		echo 'socket_mode = "0666"'
		echo 'limits { wall_ms = 1min cpu_ms = 1min }'
		[[ ! -e $1 ]] || sed "s|^egress {|& $guide_egress|" "$1"
	} >"$ced_folder/ced.conf"
	chmod 644 "$ced_folder/ced.conf"
	chmod 755 "$ced_folder/run"
	ced_arguments=(--config "$ced_folder/ced.conf")
	daemon_stop
	daemon_start
}

# guide_pages NAME...: types these pages, one after the other.
guide_pages() {
	local page
	page_settings "$work/etc/ced.conf"
	for page in "$@"; do
		type_page "$guide/$page.md"
		((page_typed > 0))
		ok $? "$page.md has $page_typed steps"
	done
}
