#!/bin/bash
# The agent loop of examples/ speaks with models over the APIs of Anthropic and OpenAI.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/recipes.sh"
daemon_start
exits 0 "it asks in both shapes, corrects, and stops after three attempts" \
	/usr/bin/python3 "$here/922-recipes-model.py" examples/agent-loop/agent.py
is "$out" ok "with what went wrong in the messages"
is "$(json "$(cectl runs --agent agent-loop --json)" 'len(it["runs"])')" 9 "and each attempt is in the record"
done_testing
