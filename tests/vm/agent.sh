#!/bin/bash
# Runs inside the guest from its start, as root: does what the host writes and tells what came of it.
#
# A command is one line, in base64.  Each line that it prints goes back behind a blank, and when it
# is over "=" and its exit status.  What a command leaves running must write elsewhere.
exec 3<>/dev/virtio-ports/ced.agent || exit 1
cd /root || exit 1
echo '=0' >&3
while IFS= read -r line <&3; do
	base64 --decode <<<"$line" >/run/agent-command
	bash /run/agent-command 2>&1 </dev/null 3>&- | sed --unbuffered 's/^/ /' >&3
	echo "=${PIPESTATUS[0]}" >&3
done
