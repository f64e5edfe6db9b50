set -- a "b c" d
IFS=-; echo "$*"; unset IFS
printf '<%s>' "$@"; echo
args=("$@"); set -- "${args[@]:1}"; echo "$1 $#"
