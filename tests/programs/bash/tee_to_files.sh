printf '%s\n' a b | tee copy | wc -l; cat copy
echo "1 2 3" | tee one two >/dev/null; sort -u one two
