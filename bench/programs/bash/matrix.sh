NUMBER=0
size=4
declare -A a b c
for ((i = 0; i < size; i++)); do
	for ((j = 0; j < size; j++)); do
		a[$i,$j]=$(((i + j + NUMBER) % 10)) b[$i,$j]=$((i == j ? 2 : 1))
	done
done
for ((i = 0; i < size; i++)); do
	row=
	for ((j = 0; j < size; j++)); do
		sum=0
		for ((k = 0; k < size; k++)); do
			((sum += a[$i,$k] * b[$k,$j])) || true
		done
		c[$i,$j]=$sum
		row+=$(printf '%4d' "$sum")
	done
	echo "$row ${c[$i,$i]}"
done
