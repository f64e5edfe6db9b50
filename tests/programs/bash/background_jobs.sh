for n in 3 1 2; do (sleep 0.0$n; echo "job $n" >out.$n) & done
wait
cat out.1 out.2 out.3
(exit 6) & wait $!; echo $?
sleep 100 & kill $!; wait $! 2>/dev/null; echo $?
