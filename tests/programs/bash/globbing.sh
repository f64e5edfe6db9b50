touch b.txt a.txt c.md ".hidden"
echo *.txt; echo *.none; echo .h*
shopt -s nullglob; echo [*.none]; shopt -s dotglob; echo *
set -f; echo *.txt
