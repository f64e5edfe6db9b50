# stdin: the cat and the dog and the bird\n
tr -s ' ' '\n' | sort | uniq -c | sort -k1,1nr -k2 | while read -r count word; do echo "$word $count"; done
