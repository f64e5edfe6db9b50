# Sourced by scenarios that are another one, by a user without any rights:
#
#   . "$(dirname "$0")/ordinary.sh"
#   as_ordinary_user 401-escape
# shellcheck shell=bash

as_ordinary_user() {
	local here build folder
	here=$(dirname "$0")
	if [[ $(id -u) != 0 ]]; then
		echo "1..0 # SKIP an ordinary user has tried this in $1"
		exit 0
	fi
	if [[ $(cat /proc/sys/kernel/unprivileged_userns_clone 2>/dev/null) == 0 ]]; then
		echo "1..0 # SKIP this host gives ordinary users no namespaces"
		exit 0
	fi

	# The checkout may be closed to others, so all that is needed goes along.
	folder=$(mktemp -d "${TMPDIR:-/tmp}/ced-ordinary.XXXXXX")
	# shellcheck disable=SC2064 # the folder of now
	trap "rm -rf '$folder'" EXIT
	build=$(dirname "$(dirname "$(command -v ced-spawner)")")
	cp -r "$build/bin" "$build/libexec" "$here/lib.sh" "$here/wire.py" "$here"/nets.* "$here/$1".* "$folder/"
	chmod -R a+rX "$folder"
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all \
		env -i PATH="$folder/bin:$PATH" bash "$folder/$1.t"
}
