declare -i number=5; number+=3; echo "$number"
declare -r constant=1; (constant=2) 2>/dev/null; echo $?
declare -n other=number; other=9; echo "$number"
declare -u loud=shout; echo "$loud"
name=number; echo "${!name}"
