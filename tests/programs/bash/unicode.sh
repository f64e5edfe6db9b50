word="Grüße 日本"
echo "${#word}" "${word:6:1}" "${word^^}"
printf '%s' "$word" | wc -c; printf '%s\n' "$word" | wc -m
printf '\u00e9\n'
