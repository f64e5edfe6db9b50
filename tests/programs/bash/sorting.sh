printf '%s\n' 10 9 2 1 | sort; printf '%s\n' 10 9 2 1 | sort -n
printf 'b 2\na 10\nc 1\n' | sort -k2 -n
printf '%s\n' v1.10 v1.9 v1.2 | sort -V
printf 'x\nX\ny\n' | sort -fu; printf '1\n3\n' >one; printf '2\n3\n' >two
sort -m one two; comm -12 one two; join one two
