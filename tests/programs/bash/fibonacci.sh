a=0 b=1
for ((i = 0; i < 20; i++)); do printf '%d ' "$a"; ((t = a + b, a = b, b = t)); done; echo
