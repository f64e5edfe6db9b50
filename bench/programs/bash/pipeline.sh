NUMBER=0
seq 1 200 | while read -r n; do
	((n % 7 == NUMBER % 7)) && echo "$n"
done | tail -n 5 | paste -sd+
printf '%s\n' banana apple cherry apple "kiwi$((NUMBER % 3))" | sort | uniq -c | sort -rn | head -n 2
echo "a:b:c" | tr ':' '\n' | tac | tr '\n' ' '
echo
basename /usr/share/doc/README.txt .txt
dirname /usr/share/doc/README.txt
date -u -d @$((NUMBER % 1000000)) +%Y
