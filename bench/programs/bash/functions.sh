NUMBER=0
set -euo pipefail
max() {
	local best=$1
	for n in "$@"; do
		((n > best)) && best=$n
	done
	echo "$best"
}
join_by() {
	local IFS=$1
	shift
	echo "$*"
}
values=(3 $((NUMBER % 50)) 17 8)
echo "max $(max "${values[@]}")"
join_by , "${values[@]}"
safe() { "$@" || echo "failed with $?"; }
safe false
safe test 1 -lt 2
mapfile -t lines < <(printf 'x\ny\nz\n')
echo "${#lines[@]} ${lines[-1]}"
