# Programs behave in a worker as in an ordinary interpreter.
# shellcheck source=tests/jail/warm.sh
. "$CED_SOURCE/tests/jail/warm.sh"
warm_run semantics.py
