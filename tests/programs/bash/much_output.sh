for i in {1..3000}; do echo "line $i of much output"; done
seq 20000 | tail -n 1
