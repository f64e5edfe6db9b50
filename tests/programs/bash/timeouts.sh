timeout 0.1 sleep 50; echo $?
timeout 50 true; echo $?
SECONDS=0; sleep 0.01; echo $((SECONDS < 60))
