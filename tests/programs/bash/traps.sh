trap 'echo "exit trap $?"' EXIT
trap 'echo "got USR1"' USR1
kill -USR1 $$
trap 'echo "error on line $LINENO"' ERR
false
trap - ERR
(trap 'echo inner' EXIT; exit 2)
echo $?
exit 3
