# bash completion for cectl: `cectl complete` knows the words.  Where it knows none, bash offers files.
_cectl() {
	local word words=() i
	COMPREPLY=()
	# bash makes three words of --policy=strict.
	for ((i = 1; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		[[ $word == '=' ]] || words+=("$word")
	done
	[[ ${COMP_WORDS[COMP_CWORD]} != '=' ]] || words+=("")
	while IFS=$'\t' read -r word _; do
		COMPREPLY+=("$word")
	done < <("${COMP_WORDS[0]}" complete -- "${words[@]}" 2>/dev/null)
	# A number follows "memory=".
	[[ ${COMPREPLY[0]:-} != *= ]] || compopt -o nospace 2>/dev/null
}
complete -o default -F _cectl cectl
