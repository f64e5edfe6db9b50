NUMBER=0
levels=(INFO INFO WARNING ERROR)
for ((i = 0; i < 40; i++)); do
	echo "2024-03-01T$((i % 24)):00 ${levels[(i + NUMBER) % 4]} request $i took $((i * 37 % 900)) ms"
done >/tmp/log
for level in INFO WARNING ERROR; do
	printf '%-8s %s\n' "$level" "$(grep -c " $level " /tmp/log)"
done
sort -t' ' -k6,6n /tmp/log | tail -n 1 | cut -d' ' -f3-
sed -n 's/.*ERROR request \([0-9]*\).*/\1/p' /tmp/log | head -n 3 | tr '\n' ' '
echo
rm /tmp/log
