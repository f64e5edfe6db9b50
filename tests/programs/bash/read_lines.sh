# stdin: first line\nsecond  line \n  third\\tline\nlast without end
while IFS= read -r line || [[ -n $line ]]; do echo "[$line]"; done
