false | true; echo "$? ${PIPESTATUS[*]}"
set -o pipefail
false | true; echo "$?"
(exit 3) | (exit 4) | true; echo "${PIPESTATUS[@]}"
! true; echo $?
