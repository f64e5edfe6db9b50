#!/bin/bash
# A parked run whose request was masked, after the daemon has started again: it can be denied or
# cancelled, the record verifies, and its id is free.
. "$(dirname "$0")/lib.sh"
only python
[[ $(id -u) == 0 ]] || skip_all "it takes several users"
cat >"$ced_folder/ced.conf" <<CONF
cgroups = "auto"
CONF
ced_arguments=(--config "$ced_folder/ced.conf")
open_socket() { chmod 777 "$(dirname "$CED_SOCKET")" && chmod 666 "$CED_SOCKET"; }
as() {
	local uid=$1
	shift
	setpriv --reuid "$uid" --regid "$uid" --clear-groups "$@"
}
park() { SEC=abcdefgh-secret as 4001 cectl run --detach --policy review -c 'import socket' --secret SEC -e T=abcdefgh-secret "$@" 2>/dev/null; }
daemon_start
open_socket
denied=$(park --id denied)
canceled=$(park --id canceled)
pattern=$(as 4001 cectl run --detach --policy review --id pattern -c $'import socket\nkey = "AKIAIOSFODNN7EXAMPLX"' 2>/dev/null)
name=$(SEC=abcdefgh_secret as 4001 cectl run --detach --policy review -c 'import socket' --secret SEC -e abcdefgh_secret=1 2>/dev/null)
allowed=$(SEC=abcdefgh_secret as 4001 cectl run --detach --policy review -c 'import socket' --secret SEC -e abcdefgh_secret=1 2>/dev/null)
daemon_stop
daemon_start
open_socket
exits 1 "a run with a mask in its request cannot be approved after a restart" cectl approve "$denied"
like "$err" 'masked before it was stored.*it can be denied' "and the message says why"
exits 0 "it can be denied" cectl deny "$denied" --reason 'no'
exits 126 "and ends" as 4001 cectl wait "$denied"
like "$err" 'approval_denied' "as denied"
exits 1 "so it is with a mask of a pattern" cectl approve "$pattern"
like "$err" 'it can be denied' "which can be denied too"
exits 0 "it is denied" cectl deny "$pattern"
exits 1 "nor can one whose request is none with its masks" cectl approve "$allowed"
like "$err" 'masked before it was stored.*it can be denied' "and the message says why"
exits 0 "it can be denied" cectl deny "$name"
exits 126 "and ends" as 4001 cectl wait "$name"
exits 0 "or cancelled" as 4001 cectl cancel "$allowed"
exits 0 "a run with a mask in its request can be cancelled" as 4001 cectl cancel "$canceled"
as 4001 cectl wait "$canceled" >/dev/null 2>&1
exits 0 "then the record verifies" cectl audit verify
is "$(as 4001 cectl run --id canceled -c 'print(1)')" 1 "and the id of the cancelled run is free"
done_testing
