when="2024-03-31T12:34:56"
if [[ $when =~ ^([0-9]{4})-([0-9]{2})-([0-9]{2})T ]]; then
	echo "${BASH_REMATCH[1]}/${BASH_REMATCH[2]}/${BASH_REMATCH[3]} of ${BASH_REMATCH[0]}"
fi
[[ abc =~ b ]] && echo found
[[ abc =~ ^b ]] || echo "not at the start"
[[ "a.c" == a?c && abc < abd ]] && echo globs
