#!/bin/bash
# A stop that somebody wants logs no warning, whatever is going on.
. "$(dirname "$0")/lib.sh"

# In a session of its own: an interrupt on a terminal goes to all who are in the foreground.
setsid_spawner() {
	local programs
	programs=$(ced_programs)
	mkdir -p "$ced_folder/wrapped/bin"
	printf '#!/bin/bash\nexec setsid "%s" "$@"\n' "$programs/bin/ced-spawner" >"$ced_folder/wrapped/bin/ced-spawner"
	chmod +x "$ced_folder/wrapped/bin/ced-spawner"
	ln -sfn "$programs/libexec" "$ced_folder/wrapped/libexec"
	ced_programs() { echo "$ced_folder/wrapped"; }
}
setsid_spawner

# warnings NAME: what was logged from the beginning of the stop on.
warnings() {
	is "$(sed -n '/ drain why=/,$p' "$ced_log" | grep -E '^<[0-4]>')" "" "$1"
	like "$(cat "$ced_log")" ' drain why=' "it was a stop"
}

daemon_start
cectl run -c 'print(1)' >"$work/out"
cectl run -l bash -c 'echo 2' >>"$work/out"
cectl run -l javascript -c 'console.log(3)' >>"$work/out"
is "$(tr '\n' ' ' <"$work/out")" "1 2 3 " "programs run"
daemon_stop
warnings "a stop logs no warning"

daemon_start
for ((i = 0; i < 6; i++)); do
	cectl run -c 'pass' >"$work/out" 2>&1 &
done
daemon_stop
wait
warnings "nor one while programs run and workers are made"

daemon_start
kill -INT -- "-$ced_spawner"
wait "$ced_spawner"
ced_spawner=
warnings "nor an interrupt that everybody gets"

daemon_start
kill -TERM -- "-$ced_spawner"
wait "$ced_spawner"
ced_spawner=
warnings "nor a request to end that everybody gets"

# A zygote that has done its runs is replaced, and takes its slots with it.
echo 'zygote_runs = 2' >>"$ced_folder/ced.conf"
chmod 644 "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
ready() {
	grep -c 'zygote.ready runtime=python' "$ced_log"
}
before=$(ready)
for ((i = 0; i < 200 && $(ready) < before + 2; i++)); do
	cectl run -c 'pass' >"$work/out" 2>&1
	sleep 0.1
done
(($(ready) >= before + 2))
ok $? "a zygote is replaced after its runs"
is "$(grep -E '^<[0-4]>' "$ced_log" | grep -v 'cgroups=')" "" "and logs no warning of that"
daemon_stop
warnings "and then a stop logs none"
done_testing
