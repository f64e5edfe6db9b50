greet() { local name=${1:-nobody}; echo "hello $name, $# arguments"; return 5; }
greet; echo $?
greet ann bob; name=outer; greet x >/dev/null; echo "$name"
fact() { (($1 < 2)) && echo 1 || echo $(($1 * $(fact $(($1 - 1))))); }
fact 10
declare -f greet | head -n 1
