fruits=(apple "blood orange" fig)
fruits+=(date)
echo "${#fruits[@]}" "${fruits[1]}" "${fruits[@]:1:2}" "${!fruits[@]}"
unset 'fruits[0]'
for fruit in "${fruits[@]}"; do echo "<$fruit>"; done
declare -A stock=([apple]=3 [fig]=0)
stock[date]=9
for key in $(printf '%s\n' "${!stock[@]}" | sort); do echo "$key=${stock[$key]}"; done
[[ -v stock[fig] ]] && echo there
mapfile -t lines <<<$'x\ny'; echo "${#lines[@]} ${lines[1]}"
