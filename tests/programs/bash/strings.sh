text="The quick brown fox"
echo "${#text}" "${text:4:5}" "${text/quick/slow}" "${text//o/0}" "${text^^}" "${text,,}" "${text#* }" "${text##* }" "${text% *}" "${text%% *}"
path=/usr/local/lib/file.tar.gz
echo "${path##*/}" "${path%/*}" "${path%%.*}" "${path#*.}"
unset none; echo "${none:-default}" "${none:=set}" "$none" "${text:+given}"
echo "${text@Q}" "${#none}" "${text: -3}"
printf '%q %5d|%-5s|%05.1f|%x %b\n' "a b" 42 ab 3.14159 255 'tab\there'
