x=1; (x=2; cd /; echo "$x"); echo "$x"
y=$(echo inner; exit 3); echo "$y $?"
echo "$(echo "$(echo nested)")" `echo old`
z=$(printf 'lines\n\n\n'); echo "[$z]"
echo $BASH_SUBSHELL $(echo $BASH_SUBSHELL)
