echo "hello, wörld"
printf '%s\n' one 'two words' "three"
