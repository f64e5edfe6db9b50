seq -s, 5; seq 10 -3 1 | paste -sd' '; factor 360; numfmt --to=iec 1048576
expr 7 \* 6; expr length hello; printf '%.3f\n' 2.71828
shuf -i 1-10 | sort -n | wc -l; echo $((RANDOM >= 0))
