todo=todo.txt; : >$todo
add() { echo "[ ] $*" >>$todo; }
finish() { local n=0 line out=(); while IFS= read -r line; do ((++n == $1)) && line=${line/\[ \]/[x]}; out+=("$line"); done <$todo; printf '%s\n' "${out[@]}" >$todo; }
add write tests; add run them; add rest
finish 2; nl $todo
