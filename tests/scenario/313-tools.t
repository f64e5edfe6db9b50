#!/bin/bash
# A listed tool works: what it starts itself comes with it, and nothing else.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
cat >>"$ced_folder/ced.conf" <<'END'
runtime bash {
	tools = {"coreutils", "tar", "gzip", "zcat", "gunzip", "awk", "no-such-tool"}
	workers_min = 1
}
runtime lean {
	kind = "command"
	interpreter = "/usr/bin/bash"
	language = "bash"
	file = "main.sh"
	tools = {"zcat", "ls"}
	workers_min = 1
}
END
chmod a+r "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start

run() { cectl run --language "$1" -c "$2" 2>&1; }
is "$(run bash 'mkdir a; echo one > a/b; tar -czf a.tgz a; rm -r a; tar -xzf a.tgz; cat a/b')" one "tar -z packs and unpacks"
is "$(run bash 'echo one | gzip > a.gz; zcat a.gz; gunzip a.gz; cat a; zcat <(echo two | gzip)')" $'one\none\ntwo' \
	"zcat and gunzip, which are scripts, work"
is "$(run bash "awk 'BEGIN { system(\"echo one\"); print \"two\" | \"cat\" }'")" $'one\ntwo' "awk starts what it may"
is "$(run bash 'awk '"'"'BEGIN { system("perl -v") }'"'"' 2>/dev/null; for name in perl python3 make vi bzip2 dash; do type -P $name; done; true')" "" \
	"and no tool that is not listed is there"
# shellcheck disable=SC2016 # the shell in the jail expands it
is "$(run lean 'zcat < <(:) 2>/dev/null; for name in /usr/bin/*; do echo ${name##*/}; done >/dev/null; cd /usr/bin; echo *')" \
	"bash ced-call ced-display gzip ls sh zcat" "a script brings along what it is written in and what it starts, no more"

# Each tool call of a shell starts one of them.
for program in ced-call ced-display ced-zygote; do
	unlike "$(readelf -lW "$(ced_programs)/libexec/ced/command/$program")" 'INTERP' "$program starts without the loader"
done
done_testing
