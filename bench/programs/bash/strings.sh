NUMBER=0
text="  Hello, World $NUMBER  "
trimmed=${text#"${text%%[![:space:]]*}"}
trimmed=${trimmed%"${trimmed##*[![:space:]]}"}
echo "[$trimmed] ${#trimmed}"
echo "${trimmed,,}" "${trimmed//o/0}" "${trimmed:0:5}"
reversed=
for ((i = ${#trimmed} - 1; i >= 0; i--)); do
	reversed+=${trimmed:i:1}
done
echo "$reversed"
if [[ $trimmed =~ ^([A-Za-z]+),\ ([A-Za-z]+) ]]; then
	echo "${BASH_REMATCH[2]} ${BASH_REMATCH[1]}"
fi
printf '%05d %x %s\n' "$((NUMBER % 1000))" 255 end
