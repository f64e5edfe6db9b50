#!/bin/bash
# The client for node: its own tests against a daemon, and how many of its lines they reach.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python javascript
. "$here/node_client.sh"
node_client_build || bail "clients/node does not build"
mkdir -m 755 "$work/policies"
install -m 644 "$here"/../../clients/conformance/policies/*.json "$work/policies"
printf 'cgroups = "%s"\npolicies = "%s"\n' "$([[ $(id -u) == 0 ]] && echo required || echo auto)" "$work/policies" >"$ced_folder/ced.conf"
chmod 644 "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
export CED_REPOSITORY=$here/../..
cd "$client" || bail "no folder $client"
node node_modules/c8/bin/c8.js --include 'dist/esm/**' --include 'src/**' --reporter text --check-coverage --lines 90 \
	node --test --test-concurrency=1 test/ >"$work/said" 2>&1
ok $? "the tests of clients/node pass and reach 90 of 100 lines"
[[ $(grep -c '^ *client.ts *|' "$work/said") == 1 ]]
ok $? "the lines of src/client.ts were counted"
report "$work/said"
verdict=$(cectl audit verify 2>&1)
ok $? "the record holds" "$verdict"
done_testing
