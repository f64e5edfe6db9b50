#!/bin/bash
# Configurations as an administrator writes them: checked before they are used, refused with file,
# line and what to write, and read alike by the daemon, by `ced --in-force` and by `cectl doctor`.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

programs=$(ced_programs)
ced=$programs/libexec/ced/ced
conf=$ced_folder/try.conf

# settings LINE...: a configuration of these lines.
settings() {
	printf '%s\n' "$@" >"$conf"
}

# --- checked ----------------------------------------------------------------------------------

settings '# three comments' '# before' '// the setting' 'queue_max = 7' 'cache_s = 1h' 'keep_days = 90d'
exits 0 "a good file is accepted" "$ced" --check-config "$conf"
like "$out" "^$conf: no mistake found in it, .*\(3 settings, [0-9]+ runtimes\)" "and that is said"
like "$("$ced" --in-force --config "$conf")" $'\ncache_s=3600\n' "a time is read in the setting's own unit"

{
	for ((line = 1; line < 200; line++)); do echo "# comment $line"; done
	echo 'quue_max = 4'
} >"$conf"
exits 1 "a bad one is not" "$ced" --check-config "$conf"
is "$err" "configuration $conf: line 200: there is no setting quue_max here; did you mean queue_max?" \
	"its line is the one that an editor shows, with what was meant"

settings 'limits {' 'wall_ms = 2s'
exits 1 "a section without an end is refused" "$ced" --check-config "$conf"
like "$err" 'line 3: the section limits, begun on line 1, has no end' "with the line where it begins"

settings 'queue_max = 7' 'queue_max = 8'
exits 1 "so is a setting that is written twice" "$ced" --check-config "$conf"
like "$err" 'line 2: queue_max is on line 1 already' "with both lines"

settings '' 'workers_min = 9' 'workers_max = 3'
exits 1 "so are two that do not fit" "$ced" --check-config "$conf"
like "$err" "^configuration $conf: line 2: workers_min = 9 is above workers_max = 3: lower it" "with file and line"

settings '' 'runtime ruby { interpreter = "/opt/nope/ruby" kind = "command" }'
exits 1 "so is an interpreter that is not there" "$ced" --check-config "$conf"
like "$err" "line 2: runtime ruby: interpreter = \"/opt/nope/ruby\" is not a program on this host" "by its place"

# refused TEXT LINE...: a configuration of these lines is refused, on its last line, with this text.
refused() {
	local text=$1
	shift
	settings "$@"
	exits 1 "refused: ${*: -1}" "$ced" --check-config "$conf"
	is "$err" "configuration $conf: line $#: $text" "with its line, and what to write"
}

refused 'policy: there is no policy "stict"; did you mean strict?' 'policy = "stict"'
refused 'for_policy.standad: there is no policy "standad"; did you mean standard?' \
	'' 'for_policy standad { limits { pids = 3 } }'
refused 'a list is in braces, not in brackets: write users = {a, b}' 'users = ["ann"]'
for path in / /home /proc /proc/1/root /etc/shadow /run; do
	settings '' "runtime bash { binds = {\"$path\"} }"
	exits 1 "a bind of $path is refused" "$ced" --check-config "$conf"
	like "$err" "line 2: runtime bash: binds: \"$path\" cannot be in a jail, because /.*: name another folder" \
		"with the reason"
done
refused 'runtime bash: binds: "etc" cannot be in a jail, because etc is not a plain absolute path below /: name another folder or file' \
	'runtime bash { binds = {"etc"} }'
refused 'runtime bash: binds: /usr/nope is not on this host' 'runtime bash { binds = {"/usr/nope"} }'
refused 'alert x: there is no rule "python.import.deny"; did you mean python.import.denied?' \
	'alert x {' 'rule = "python.import.deny" }'
refused 'alert x: there is no language "pythno"; did you mean python?' 'alert x {' 'language = "pythno" }'
for program in /nope/notify /etc /etc/passwd; do
	refused "alert x: command: \"$program\" is not a program on this host: install it, or correct the path" \
		'alert x {' "command = {\"$program\"} }"
done
settings 'alert a { rule = "python.import.*" language = "python" command = {"/bin/true"} }' \
	'alert b { rule = "policy.late" }' 'alert c { rule = "bash.bytes.nul" language = "javascript" }'
exits 0 "alerts that can occur are accepted" "$ced" --check-config "$conf"
refused 'checkpoint_file = "/etc" is not an ordinary file: name a file in a folder that exists' 'checkpoint_file = "/etc"'
refused 'policies = "folder" is not an absolute path: begin it with /' 'policies = "folder"'
refused 'policies = "/nope": there is no such folder: make it, or correct the path' 'policies = "/nope"'
refused 'redactions = "file" is not an absolute path: begin it with /' 'redactions = "file"'
refused 'input_bytes = 32mb is above message_bytes = 16mb: lower it, or raise message_bytes' 'input_bytes = 32mb'
refused 'connections_per_uid = 20 is above connections_max = 10: lower it, or raise connections_max' \
	'connections_max = 10' 'connections_per_uid = 20'
settings 'message_bytes = 4mb'
exits 0 "a default above its whole is no mistake" "$ced" --check-config "$conf"

mkdir "$work/policies"
echo '{"name": "broken",' >"$work/policies/broken.json"
settings "policies = \"$work/policies\""
exits 1 "so is a policy that cannot be read" "$ced" --check-config "$conf"
like "$err" 'broken' "by its name"

rm "$work/policies/broken.json"
# policy_is JSON...: files 1.json, 2.json ... in the folder of policies, checked.
policy_is() {
	local number=0 text
	rm -f "$work/policies"/*
	for text; do
		number=$((number + 1))
		echo "$text" >"$work/policies/$number.json"
	done
	settings "policies = \"$work/policies\""
}
policy_is '{"name": "team", "description": "1", "extends": "strict"}' '{"name": "team", "description": "2", "extends": "observe"}'
exits 1 "so are two policies of one name" "$ced" --check-config "$conf"
like "$err" 'policy team: two files define it, .*/1.json and .*/2.json' "with both files"
policy_is '{"name": "standard", "description": "1", "extends": "strict"}'
exits 0 "while one may stand in the place of a shipped policy" "$ced" --check-config "$conf"
policy_is '{"name": "team", "description": "1", "extends": "strict", "limits": {"wall_ms": 0}}'
exits 1 "so is a policy's limit outside of the bounds" "$ced" --check-config "$conf"
like "$err" 'policy team: limits: wall_ms = 0 is outside 10ms to 1h' "which are named"
policy_is '{"name": "team", "description": "1", "extends": "strict", "most": {"memory_bytes": 1000}}'
exits 1 "so is its most" "$ced" --check-config "$conf"
like "$err" 'policy team: most: memory_bytes = 1000 is outside 16mb' "alike"
policy_is '{"name": "team", "description": "1", "extends": "strict", "limits": {"pids": 9}, "most": {"pids": 8}}'
exits 1 "so is its limit above its most" "$ced" --check-config "$conf"
like "$err" 'pids is above pids of most' "by its name"
policy_is '{"name": "team", "description": "1", "extends": "strict", "numbers": {"python.reds": 8}}'
exits 1 "so is a number that no rule has" "$ced" --check-config "$conf"
like "$err" 'policy team: numbers: no rule has a number called python.reds' "by its name"
settings 'for_uid 0 { limits { wall_ms = 2h } }'
exits 1 "so is a limit out of bounds in a section" "$ced" --check-config "$conf"
settings 'for_uid 0 { limits { wall_ms = 30min } }'
exits 1 "so is a section's limit above most" "$ced" --check-config "$conf"
like "$err" 'line 1: for_uid.0.limits.wall_ms is above most.wall_ms' "with its line"
settings 'for_uid 0 { limits { wall_ms = 30min } }' 'runtime python { most { wall_ms = 1h } }'
exits 0 "unless another section raises that for some" "$ced" --check-config "$conf"

settings 'queue_max = 10' 'queue_per_caller = 20'
exits 1 "so is a part that is larger than its whole" "$ced" --check-config "$conf"
like "$err" 'line 2: queue_per_caller = 20 is above queue_max = 10' "with both"
settings 'for_uid 0 { limits { pids = 3 } }' 'for_uid root { limits { pids = 4 } }'
exits 1 "so are two sections of one user" "$ced" --check-config "$conf"
like "$err" 'for_uid 0 and for_uid root are the same' "by both names"

settings "socket = \"/run/$(printf 'x%.0s' {1..120})\""
exits 1 "so is a socket whose path is too long" "$ced" --check-config "$conf"
like "$err" 'line 1: socket: this path has 125 bytes, and at most 107 are possible' "with both lengths"

exits 1 "a file that is not there is said to be missing" "$ced" --check-config "$work/nowhere.conf"
like "$err" 'nowhere.conf' "by name"

# --- read alike -------------------------------------------------------------------------------

settings 'cgroups = "auto"' 'runtime bash { off = true }'
exits 0 "a runtime that is shipped can be switched off" "$ced" --check-config "$conf"
unlike "$("$ced" --in-force --config "$conf")" 'runtime\.bash\.' "then it is not in force"
cectl doctor --config "$conf" --json >"$work/doctor" 2>/dev/null
is "$(json "$(<"$work/doctor")" '[c["state"] for c in it["checks"] if c["name"] == "configuration"][0]')" good \
	"doctor reads the same file"
settings 'cgroups = "auto"' 'runtime bash { tools = {"coreutils", "sed"} }'
exits 0 "its tools can be chosen" "$ced" --check-config "$conf"
cectl doctor --config "$conf" --json >"$work/doctor" 2>/dev/null
is "$(json "$(<"$work/doctor")" '[c["state"] for c in it["checks"] if c["name"] == "configuration"][0]')" good \
	"and doctor reads that, too"

# --- the log ----------------------------------------------------------------------------------

settings 'cgroups = "maybe"'
script -qec "'$programs/bin/ced-spawner' --libexec '$programs/libexec/ced' -- --config '$conf' \
	--socket '$ced_folder/none/ced.sock' --state '$ced_state'" /dev/null >"$work/log" 2>&1 </dev/null
like "$(<"$work/log")" 'error: ced start.failed why=' "on a terminal the log has words for its levels"
unlike "$(<"$work/log")" '<[0-9]>' "and no numbers for systemd"
"$programs/bin/ced-spawner" --libexec "$programs/libexec/ced" -- --config "$conf" \
	--socket "$ced_folder/none/ced.sock" --state "$ced_state" >"$work/log" 2>&1 </dev/null
like "$(<"$work/log")" '<3>ced start.failed why=' "elsewhere the numbers are there"

done_testing
