#!/bin/bash
# The manual pages that the build made: man and mandoc have nothing to say about them, each is found by
# its name and has one line for whatis, and every command of cectl has one.
#
#	man.sh FOLDER CECTL
set -uo pipefail
made=$1 cectl=$2

for tool in mandoc man lexgrog; do
	if ! command -v "$tool" >/dev/null; then
		echo "1..0 # SKIP $tool is not installed: ./dev setup lint"
		exit 77
	fi
done
# A stub of man, as containers have it, formats nothing.
folder=$(mktemp -d "${TMPDIR:-/tmp}/ced-man.XXXXXX")
trap 'rm -rf "$folder"' EXIT

wrong=0
complain() {
	echo "man: $*"
	wrong=1
}

for page in "$made"/*.gz; do
	name=$(basename "$page" .gz)
	gunzip -c "$page" >"$folder/$name"
	said=$(lexgrog "$folder/$name" 2>&1)
	[[ $said == *"\"${name%.*} - "* ]] || complain "$name: whatis would not find it: $said"
	said=$(LC_ALL=C.UTF-8 MAN_KEEP_STDERR=1 man --warnings -E UTF-8 -l -Tutf8 -Z "$folder/$name" 2>&1 >"$folder/formatted")
	[[ -z $said ]] || complain "$name: $said"
	[[ $(wc -c <"$folder/formatted") -gt 1000 ]] || complain "$name: man formats nothing of it"
done
said=$(cd "$folder" && rm -f formatted && mandoc -Tlint -W warning ./*.[0-9] 2>&1)
[[ -z $said ]] || complain "mandoc: $said"

pages=0
while read -r command; do
	pages=$((pages + 1))
	[[ -s $folder/cectl-${command// /-}.1 ]] || complain "cectl $command has no page"
done < <("$cectl" --help | grep -oP '^  \K[a-z-]+( [a-z-]+)?(?=  )')
[[ $pages -gt 30 ]] || complain "cectl --help lists only $pages commands"

[[ $wrong == 0 ]] && echo "man: ok, $(find "$folder" -name '*.[0-9]' | wc -l) pages, $pages commands"
exit "$wrong"
