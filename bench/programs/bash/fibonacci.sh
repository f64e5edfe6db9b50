NUMBER=0
fibonacci() {
	local a=0 b=1 i
	for ((i = 0; i < $1; i++)); do
		printf '%s ' "$a"
		((b += a, a = b - a))
	done
	echo
}
fibonacci 20
is_prime() {
	local n=$1 d
	((n > 1)) || return 1
	for ((d = 2; d * d <= n; d++)); do
		((n % d)) || return 1
	done
}
for n in 97 91 $((NUMBER % 1000 + 2)); do
	if is_prime "$n"; then echo "$n is prime"; else echo "$n is not prime"; fi
done
