coproc SQUARE { while read -r n; do echo $((n * n)); done; }
for n in 2 3; do echo $n >&"${SQUARE[1]}"; read -r found <&"${SQUARE[0]}"; echo "$found"; done
