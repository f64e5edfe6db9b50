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
	sudo() { command "$@"; }
	python3() { guide_as /usr/bin/python3 "$@"; }
	systemctl() {
		[[ "$*" != 'restart ced' ]] || page_settings "$work/etc/ced.conf"
	}
}

# The agent's user may use the socket.
page_settings() {
	printf 'socket_mode = "0666"\n%s\n' "$(cat "$1" 2>/dev/null)" >"$ced_folder/ced.conf"
	chmod 755 "$ced_folder/run"
	ced_arguments=(--config "$ced_folder/ced.conf")
	daemon_stop
	daemon_start
}
