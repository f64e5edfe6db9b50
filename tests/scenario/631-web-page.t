#!/bin/bash
# The page of cectl web in a headless Chromium.  Its pictures are in build/PRESET/screens.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null ||
	skip_all "there is no Chromium: ./dev setup test"
screens=${CED_BUILD:-$work}/screens
daemon_start

# The script asks for the daemon's end and start by lines, since only this shell has started it.
mkfifo "$work/wishes"
/usr/bin/python3 "$here/631-web-page.py" "$work" "$screens" >"$work/told" 2>"$work/wishes" &
script=$!
while read -r wish; do
	case $wish in
	"daemon stop") daemon_stop ;;
	"daemon start") daemon_start ;;
	*) echo "# $wish" ;;
	esac
done <"$work/wishes"
wait "$script"
ok $? "in a browser"
report "$work/told"
done_testing
