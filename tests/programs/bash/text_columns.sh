printf 'name,qty\nfig,3\npear,12\n' | tail -n +2 | while IFS=, read -r name qty; do printf '%-8s|%4d\n' "$name" "$qty"; done
printf 'a\tb\n' | expand -t 4; printf 'one\ntwo\n' | nl -w2 -s') '
