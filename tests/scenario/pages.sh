# Sourced after lib.sh by scenarios that type the examples of a page; pages.py says what a page may have.
#
#   type_page "$source/README.md"            each step is a check: it runs, and prints what the page says
#   type_page PAGE --section HEADING         that section alone; --without HEADING: all but that one
#   type_page PAGE --only console,python     blocks of these kinds alone
#   type_page PAGE --measured                numbers of measurements may differ
#   type_page PAGE --typed-by TEST           the blocks that the page leaves to this test
#
# All steps of a page happen in this shell, in one folder, in the order of the page: what one exports,
# writes or defines is there for the next.  Functions of the scenario stand for what is not ours to
# call, such as systemctl.
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # work, here and ced_folder are those of lib.sh and its caller

# Folders of the host that pages name, and those that stand for them here.
declare -A page_places=()
page_as=()   # runs the programs of the page as another user
page_typed=0 # steps of the last page

page_here() {
	local place text
	text=$(<"$1")
	for place in "${!page_places[@]}"; do text=${text//"$place"/"${page_places[$place]}"}; done
	printf '%s\n' "$text"
}
page_there() {
	local place text
	text=$(<"$1")
	for place in "${!page_places[@]}"; do text=${text//"${page_places[$place]}"/"$place"}; done
	printf '%s\n' "$text"
}

# page_file STEP: writes a block that has a name; the daemon starts anew with settings.
page_file() {
	local name
	name=$(<"${1%.*}.hoped")
	name=$(page_here <(echo "$name"))
	mkdir -p "$(dirname "$name")"
	page_here "$1" >"$name"
	chmod 644 "$name"
	[[ $name != */ced.conf ]] || page_settings "$name"
}

# page_settings FILE: a scenario may have its own.
page_settings() {
	[[ $(id -u) == 0 ]] || echo 'cgroups = "auto"' >>"$1"
	ced_arguments=(--config "$1")
	daemon_stop
	daemon_start
}

# page_programs FOLDER: what programs for node find, as in a project where the client is installed.
page_programs() {
	local file typed=()
	[[ -n $(compgen -G "$1/*.js") || -n $(compgen -G "$1/*.ts") ]] || return 0
	# shellcheck source=tests/scenario/node_client.sh
	[[ -d ${client:-}/dist && -d ${client:-}/node_modules ]] || { . "$here/node_client.sh" && node_client_build; } ||
		bail "clients/node does not build"
	mkdir -p node_modules
	ln -sfn "$client" node_modules/ced
	ln -sfn "$client/node_modules/zod" node_modules/zod
	for file in "$1"/*.js "$1"/*.ts; do
		[[ -e $file ]] || continue
		case $file in
		*.js) page_here "$file" >"$(basename "$file" .js).mjs" ;;
		*.ts) page_here "$file" >"$(basename "$file" .ts).mts" && typed+=("$(basename "$file" .ts).mts") ;;
		esac
	done
	((${#typed[@]} == 0)) || {
		node "$client/node_modules/typescript/bin/tsc" --strict --skipLibCheck --target es2022 --module nodenext \
			--typeRoots "$client/node_modules/@types" --types node "${typed[@]}" >page.tsc 2>&1
		ok $? "its programs in TypeScript have no errors of types"
		diag "$(<page.tsc)"
	}
}

# page_step STEP: does it, into page.said.
page_step() {
	local number
	number=$(basename "${1%.*}")
	case $1 in
	*.console | *.sh) eval "$(page_here "$1")" ;;
	*.python) page_here "$1" >program.py && "${page_as[@]}" /usr/bin/python3 program.py ;;
	*.js | *.ts) "${page_as[@]}" node "$number.mjs" ;;
	*.lua) page_here "$1" >program.lua && timeout 30 nvim --headless --clean -c "luafile program.lua" -c 'qall!' ;;
	*.mcp) /usr/bin/python3 "$here/pages.py" mcp "$1" ;;
	*.file) page_file "$1" ;;
	*) echo "nothing says how to type this block; give it a name, or a language of pages.py" && return 1 ;;
	esac
}

type_page() {
	local page=$1 steps measured=() options=() step status told
	shift
	while (($#)); do
		case $1 in
		--measured) measured=(--measured) && shift ;;
		*) options+=("$1" "$2") && shift 2 ;;
		esac
	done
	steps=$(mktemp -d "$ced_folder/steps.XXXXXX")
	mkdir -p "$steps/page"
	chmod 755 "$steps"
	chmod 777 "$steps/page"
	page_typed=$(/usr/bin/python3 "$here/pages.py" split "$page" "$steps" "${options[@]}") || bail "$page cannot be read"
	cd "$steps/page" || bail "no folder"
	page_programs "$steps"
	for step in "$steps"/*.*; do
		[[ $step != *.hoped ]] || continue
		page_step "$step" >"$steps/said" 2>&1 </dev/null
		status=$?
		page_there "$steps/said" >"$steps/found"
		told=$(page_complaint "$step" "$status" "$steps/found" "${measured[@]}")
		[[ -z $told ]]
		ok $? "$(basename "$page"): $(page_title "$step")"
		[[ -z $told ]] || diag "$told"
	done
	cd "$work" || exit 1
}

# page_complaint STEP STATUS FOUND [--measured]: what is wrong, or nothing.
page_complaint() {
	local step=$1 status=$2 found=$3 hoped=${1%.*}.hoped
	shift 3
	case $step in
	*.mcp) /usr/bin/python3 "$here/pages.py" compare --json "$hoped" "$found" "$@" ;;
	esac
	/usr/bin/python3 "$here/pages.py" status "$step" "$status" || sed 's/^/found: /' "$found"
	case $step in
	*.file | *.untyped | *.mcp) ;;
	*)
		if [[ -f $hoped ]]; then
			/usr/bin/python3 "$here/pages.py" compare "$hoped" "$found" "$@"
		elif [[ $step != *.sh ]]; then
			echo "the page does not say what it prints: $(<"$found")"
		fi
		;;
	esac
}

page_title() {
	case $1 in
	*.file) echo "the file $(<"${1%.*}.hoped")" ;;
	*.console) head -n 1 "$1" ;;
	*.mcp) echo "messages of MCP" ;;
	*) echo "program $(basename "${1%.*}"), $(sed -n '/^[a-z]/{/^import\|^from/!p}' "$1" | head -n 1)" ;;
	esac
}
