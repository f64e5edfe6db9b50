[[ $$ -gt 0 && $BASHPID == "$$" ]] && echo same
(echo $((BASHPID != $$)))
sleep 0 & [[ $! -gt 0 ]] && echo started; wait
