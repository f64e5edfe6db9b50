NUMBER=0
total=0
declare -A by_region
while IFS=, read -r region _ sales; do
	[[ $region == region ]] && continue
	((total += sales, by_region[$region] += sales))
done <<CSV
region,month,sales
north,1,$((NUMBER % 100))
south,1,50
north,2,75
west,2,20
CSV
for region in north south west; do
	printf '%-6s %5d\n' "$region" "${by_region[$region]}"
done
echo "total $total"
