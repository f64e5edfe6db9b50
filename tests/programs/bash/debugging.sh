PS4='+ '
set -x
x=1
echo "$((x + 1))" >/dev/null
set +x
f() { echo "${FUNCNAME[0]} $LINENO"; }; f
