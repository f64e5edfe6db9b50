[ 1 -lt 2 ] && [ a = a ] && [ -n x ] && [ -z "" ] && echo ok
[[ 10 -gt 9 && ! 10 > 9 ]] && echo "numbers and strings"
[[ -t 1 ]] || echo "no terminal"
((0)) || echo zero; [ ] || echo empty
