echo 'answer() { echo 42; }; VALUE=set' >lib.sh
. ./lib.sh
answer; echo "$VALUE"
echo 'echo "in: $0 $1"; exit 4' >part.sh; bash part.sh arg; echo $?
eval 'echo "evaluated $((1 + 2))"'
