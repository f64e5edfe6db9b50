NUMBER=0
declare -A counts
text="the quick brown fox jumps over the lazy dog and the cat number $((NUMBER % 10))"
for word in $text; do
	counts[$word]=$((${counts[$word]:-0} + 1))
done
for word in "${!counts[@]}"; do
	printf '%-8s %d\n' "$word" "${counts[$word]}"
done | sort -k2,2nr -k1,1 | head -n 4
