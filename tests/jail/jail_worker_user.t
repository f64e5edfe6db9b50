# How workers live and end, where there is one uid only and no rights.
# shellcheck source=tests/jail/warm.sh
. "$CED_SOURCE/tests/jail/warm.sh"
warm_run warm_ends.py user
