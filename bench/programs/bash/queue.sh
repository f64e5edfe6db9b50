NUMBER=0
queue=()
push() { queue+=("$1"); }
pop() {
	item=${queue[0]}
	queue=("${queue[@]:1}")
}
for ((i = 0; i < 6; i++)); do
	push "job-$(((i * 3 + NUMBER) % 7))"
done
while ((${#queue[@]})); do
	pop
	case $item in
	job-0 | job-3) echo "$item: skipped" ;;
	*) echo "$item: done" ;;
	esac
done
trap 'echo "bye"' EXIT
