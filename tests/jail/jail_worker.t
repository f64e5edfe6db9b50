# How workers live and end, under the base filter, as whoever runs this.
# shellcheck source=tests/jail/warm.sh
. "$CED_SOURCE/tests/jail/warm.sh"
warm_run warm_ends.py
