#!/bin/bash
# cectl config: every mistake of a file at once, each setting explained, and what is in force with
# the file and line that it comes from.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

conf=$ced_folder/host.conf
drop=$conf.d
mkdir "$drop"

# --- check ------------------------------------------------------------------------------------

printf '%s\n' 'quue_max = 4' 'limits { wall_ms = 2h }' 'rollback = "alrm"' 'keep_bytes = 10' >"$conf"
exits 1 "a bad file is refused" cectl config check "$conf"
is "$(grep -c . <<<"$out")" 4 "with each of its mistakes"
like "$out" "$conf:1: there is no setting quue_max here; did you mean queue_max\?" "by file and line"
exits 1 "and as a document" cectl config check "$conf" --json
is "$(json "$out" '[it["ok"], len(it["complaints"])]')" '[false, 4]' "with as many complaints"
is "$(json "$out" '[it["complaints"][1][key] for key in ("file", "line", "key", "value", "lowest", "highest", "remedy")]')" \
	"[\"$conf\", 2, \"limits.wall_ms\", \"2h\", \"10ms\", \"1h\", \"write wall_ms from 10ms to 1h\"]" \
	"a number has its bounds and what to write"
is "$(json "$out" '[it["complaints"][2][key] for key in ("line", "key", "value", "words")]')" \
	'[3, "rollback", "alrm", ["alarm", "refuse"]]' "a word has the valid ones"
exits 1 "a file that is not there" cectl config check "$conf.not" --json
is "$(json "$out" 'it["complaints"][0]["file"]')" "$conf.not" "is named"

printf '%s\n' 'egress { allow = {"10.0.0.1:80"} private = {"x"} }' >"$conf"
exits 1 "a section has two mistakes" cectl config check "$conf"
like "$out" 'allow: "10.0.0.1:80" is not the name of a host.*private: "x" is not an address' "and both are told"
for name in one two; do
	echo "packages $name { runtime = \"python\" path = \"$work/no-$name\" digest = \"sha256:$(printf '%064d' 0)\" }"
done >"$conf"
exits 1 "folders of package sets are missing" cectl config check "$conf"
like "$out" "host.conf:1: packages one: there is no folder \"$work/no-one\".*host.conf:2: packages two: there is no folder" "and each is told"
if [[ $(id -u) = 0 ]]; then
	install -d -m 700 "$work/closed" "$work/closed/set"
	echo "packages one { runtime = \"python\" path = \"$work/closed/set\" digest = \"sha256:$(printf '%064d' 0)\" }" >"$conf"
	chmod a+rx "$work" "$(dirname "$conf")"
	exits 0 "who may not look into the folder of a set is not told that it is missing" \
		setpriv --reuid 4001 --regid 4001 --clear-groups cectl config check "$conf"
fi

# --- a folder of more files -------------------------------------------------------------------

printf '%s\n' 'cgroups = "auto"' 'queue_max = 70' 'users = {1, 2}' 'keep_days = 9' \
	'alert slow { outcome = {"wall_limit"} count = 2 }' >"$conf"
printf '%s\n' '' 'queue_max = 80' 'queue_per_caller = 60' >"$drop/10-more.conf"
printf '%s\n' "users = {$(id -u), 0}" 'alert slow { count = 5 }' >"$drop/20-who.conf"
echo 'queue_max = 1' >"$drop/30-not-read"
echo 'queue_max = 2' >"$drop/.hidden.conf"
exits 0 "a later file may set what an earlier one has" cectl config check "$conf"
like "$out" 'host.conf.d/20-who.conf' "the files are listed"
unlike "$out" '30-not-read|hidden' "without those that are none"
printf '%s\n' 'queue_max = 3' 'queue_max = 4' >"$drop/40-twice.conf"
exits 1 "twice in one file is a mistake" cectl config check "$conf"
like "$out" '40-twice.conf:2: queue_max is on line 1 already' "of that file"
printf '%s\n' 'queue_max = 5' >"$drop/40-twice.conf"
exits 1 "values of two files must fit together" cectl config check "$conf"
like "$out" '10-more.conf:3: queue_per_caller = 60 is above queue_max = 5' "and the place is right"
rm "$drop/40-twice.conf"
echo 'runtime python { interpreter = "python3" }' >"$drop/50-path.conf"
exits 1 "a value that only shows when it is used" cectl config check "$conf"
like "$out" '50-path.conf:1: interpreter = "python3" is not an absolute path' "is found in its file, too"
rm "$drop/50-path.conf"

# --- explain ----------------------------------------------------------------------------------

exits 0 "a setting is explained" cectl config explain queue_max
for words in 'runs waiting for a worker' 'default +1024' 'range +1 to 100000' 'outside all sections' 'cectl reload'; do
	like "$out" "$words" "with: $words"
done
like "$(cectl config explain workers_max)" 'systemctl restart ced' "one that needs a restart says so"
exits 0 "a name in several sections" cectl config explain wall_ms
like "$out" 'limits\.wall_ms.*most\.wall_ms.*for_uid\.NAME\.limits\.wall_ms' "is explained for each"
exits 0 "a section may have its own name" cectl config explain alert.slow.count
like "$out" 'where +alert NAME \{ \}' "and where it is written"
exits 1 "a slip" cectl config explain quue_max
like "$err" 'there is no setting quue_max; did you mean queue_max\?' "is answered with what was meant"
cectl config explain --json >"$work/all"
is "$(json "$(<"$work/all")" '[row["key"] for row in it if not row["meaning"] or row["change"] not in ("reload", "restart")]')" \
	'[]' "every setting has a meaning and says how it changes"

# --- show -------------------------------------------------------------------------------------

ced_arguments=(--config "$conf")
daemon_start
exits 0 "what is in force" cectl config show --json
shown=$out
of() { json "$shown" "[[s.get(k) for k in ('value', 'source', 'line')] for s in it['settings'] if s['key'] == '$1'][0]"; }
is "$(of queue_max)" '["80", "file", 2]' "the last file counts, with its line"
is "$(json "$shown" '[s["file"] for s in it["settings"] if s["key"] == "queue_max"][0]')" "$drop/10-more.conf" "and its name"
is "$(of users)" "[\"{$(id -u), 0}\", \"file\", 1]" "a list replaces a list"
is "$(of alert.slow.count)" '["5", "file", 2]' "a section is merged"
is "$(of alert.slow.outcome)" '["{wall_limit}", "file", 5]' "setting by setting"
is "$(of wait_ms)" '["10min", "default", null]' "what nobody wrote is the default"
is "$(of socket)" "[\"$CED_SOCKET\", \"command line\", null]" "the command line is named"
is "$(json "$shown" 'len(it["files"])')" 3 "all files are listed"
exits 0 "for people" cectl config show --changed
like "$out" 'queue_max +80 +10-more.conf:2' "in a table"
unlike "$out" 'wait_ms' "of what was changed"
exits 0 "a section" cectl config show limits
like "$out" 'limits.wall_ms +5s +default' "has its settings"
exits 1 "a slip" cectl config show quue_max
like "$err" 'did you mean queue_max' "is answered"
if [[ $(id -u) == 0 ]]; then
	chmod 777 "$(dirname "$CED_SOCKET")"
	chmod 666 "$CED_SOCKET"
	exits 1 "it is for administrators" setpriv --reuid 4001 --regid 4001 --clear-groups cectl config show
	like "$err" 'forbidden' "and others are told"
fi
done_testing
