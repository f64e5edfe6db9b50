NUMBER=0

sum=0
for ((i = 1; i <= 50000; i++)); do
	((sum = (sum * 31 + i) % 1000003))
done
echo "$sum $((NUMBER % 7))"
