# shellcheck shell=bash disable=SC2034,SC2154
# Servers for runs with a network, and a daemon that lets runs reach them.  Sourced after lib.sh.

nets_pid=
nets=$work/nets
nets_leave() {
	local status=$?
	[[ -z $nets_pid ]] || kill "$nets_pid" 2>/dev/null
	(exit "$status")
	ced_leave
}
trap nets_leave EXIT

nets_port() {
	sed -n "s/^$1 //p" "$nets/ports"
}

# The servers alone.
nets_servers() {
	mkdir -p "$nets/www"
	/usr/bin/python3 -B "$here/nets.py" "$nets" &
	nets_pid=$!
	for _ in {1..600}; do
		[[ -s $nets/ports ]] && break
		sleep 0.1
	done
}

# nets_start EXTRA-SETTINGS: EXTRA is added to the section egress, NETS_MORE after it.
nets_start() {
	nets_servers
	local http https echo sink nobody retry
	http=$(nets_port http) https=$(nets_port https) echo=$(nets_port echo)
	sink=$(nets_port sink) nobody=$(nets_port nobody) retry=$(nets_port retry)
	cat >"$ced_folder/ced.conf" <<CONF
cgroups = "auto"
egress {
	allow = {"*.test:$http", "*.test:$https", "*.test:$echo", "*.test:$sink", "*.test:$nobody",
		"*.test:$retry", "*.test:$(nets_port cut)"}
	private = {"127.0.0.1"}
	resolvers = {"127.0.0.1:$(nets_port dns)"}
	$1
}
${NETS_MORE-}
CONF
	ced_arguments=(--config "$ced_folder/ced.conf")
	daemon_start
}
