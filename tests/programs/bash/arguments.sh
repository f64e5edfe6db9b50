# args: one 'two words' '' --flag=x '*'
echo $#
for arg; do echo "<$arg>"; done
shift 2
echo "$1|${*: -1}"
while getopts "ab:" option -a -b value; do echo "$option ${OPTARG:-}"; done
