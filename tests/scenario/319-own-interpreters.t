#!/bin/bash
# Interpreters of other kinds than the usual: each is started in the way in which it works as by itself.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only own
# Not below /tmp, where a jail has a folder of its own.
place=$(mktemp -d /opt/ced-own.XXXXXX 2>/dev/null)
trap 'rm -rf "${place:-$ced_folder/none}"; ced_leave' EXIT
[[ -n $place ]] || skip_all "there is no place for interpreters"
cp "$CED_BUILD"/tests/own/* "$place/"
LC_ALL=C sed -i "s,/opt/ced-own.XXXXXX,$place," "$place"/*
mkdir "$work/policies"
interpreters=(large early static allocator)
unread=$(printf ', "%s"' "${interpreters[@]}")
echo '{"name": "own", "description": "Programs of these interpreters.", "extends": "standard", "unread": ['"${unread:2}"']}' \
	>"$work/policies/own.json"
{
	printf 'cgroups = "auto"\npolicies = "%s/policies"\n' "$work"
	for name in "${interpreters[@]}"; do
		printf 'runtime %s { kind = "command" interpreter = "%s" binds = {"%s"} file = "main.own" tools = {} %s }\n' \
			"$name" "$place/own_$name" "$place" 'workers_min = 1 workers_max = 2'
	done
} >"$work/ced.conf"
chmod -R a+rX "$work" "$place"
ced_arguments=(--config "$work/ced.conf")
daemon_start

own() { # interpreter, arguments of cectl run
	local name=$1
	shift
	cectl run -l "$name" --policy own -c 'nothing' "$@"
}

# waits INTERPRETER [TRIES]: whether one of it waits, before its job comes.
waits() {
	local tries
	for ((tries = 0; tries < ${2:-100}; tries++)); do
		[[ $(waiting_as "$place/own_$1") == 0 ]] || return 0
		sleep 0.1
	done
	return 1
}

is "$(own large -- hello)" "hello ahead, early: no library, 0" "an interpreter with 1 GiB that it does not touch"
waits large
ok $? "is started before its job comes"
for env in LD_BIND_NOW=1 GLIBC_TUNABLES=glibc.malloc.check=0 MALLOC_ARENA_MAX=1; do
	is "$(own large --env "$env" -- hello)" "hello anew, early: no library, 0" "but not for a job with $env"
done

is "$(own large --env A=1 --env B= -- '' layout)" $'page 4096, 0 holes, count\nlayout ahead, early: no library, 0' \
	"arguments, environment and auxiliary vector lie as the kernel puts them"

# fills: how many MiB the program can take, of 64.
fills() {
	own large --limit memory_bytes=67108864 "$@" -- fill 2>/dev/null | grep -v large | tail -n 1
}
head -c 15000000 /dev/zero >large
with=$(fills --file large)
without=$(fills)
[[ $with -gt 40 && $((without - with)) -lt 8 ]]
ok $? "a job that has been read takes no memory from its program ($with MiB, $without without a file)"

is "$(own early --env OWN_WORD=given -- hello)" "hello anew, early: given, 0" "constructors of a library see the environment of the job"
! waits early 5
ok $? "because the interpreter is started when its job comes"

is "$(own static -- hello)" "hello anew, early: no library, 0" "an interpreter that is linked statically"
! waits static 5
ok $? "is started when its job comes"
is "$(own allocator -- hello)" "hello anew, early: no library, 0" "an interpreter whose allocator waits for its main()"
! waits allocator 5
ok $? "is started when its job comes"
done_testing
