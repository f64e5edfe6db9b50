printf '%s\n' pear apple fig apple | sort | uniq -c | sort -rn | head -n 2
seq 1 100 | tail -n 3 | tac | tr '\n' ' '; echo
printf 'a,b,c\nd,e,f\n' | cut -d, -f2 | paste -sd+
yes | head -n 3 | wc -l
printf '3\n1\n2\n' | sort -n | nl
