NUMBER=0
usage() { echo "usage: tool [-v] [-n COUNT] FILE..." >&2; }
verbose=0 count=1
set -- -v -n $((NUMBER % 9)) a.txt "b c.txt"
while getopts 'vn:' option; do
	case $option in
	v) verbose=1 ;;
	n) count=$OPTARG ;;
	*) usage; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
echo "verbose=$verbose count=$count files=$#"
for file in "$@"; do
	echo "<${file##*.}> ${file^^}"
done
