# stdin: ann:20:Berlin\nbob:31:Oslo\n
total=0
while IFS=: read -r name age city; do
	echo "$name lives in $city"
	((total += age))
done
echo "$total"
