NUMBER=0
config="host = example
port = $((8000 + NUMBER % 1000))
# comment
debug = yes"
declare -A settings
while IFS='=' read -r key value; do
	key=${key// /}
	[[ -z $key || $key == \#* ]] && continue
	settings[$key]=${value# }
done <<<"$config"
for key in host port debug missing; do
	echo "$key: ${settings[$key]-not set}"
done
[[ ${settings[debug]} == yes ]] && echo "debugging ${settings[host]}"
