for i in {1..3} {a..c}; do printf '%s ' "$i"; done; echo
for ((i = 0; i < 10; i += 3)); do ((i == 6)) && continue; echo -n "$i "; done; echo
n=3; while ((n)); do echo -n $((n--)); done; echo
until [[ $n == 2 ]]; do ((n++)); done; echo $n
for x in a b; do for y in 1 2; do [[ $x$y == a2 ]] && break 2; echo "$x$y"; done; done
printf '%s\n' {01..03}{x,y}
