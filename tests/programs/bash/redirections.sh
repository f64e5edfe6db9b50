echo out; echo err >&2
{ echo one; echo two >&2; } >both 2>&1; sort both
exec 3>third; echo three >&3; exec 3>&-; cat third
ls /none 2>/dev/null || echo "quiet"
echo x >file; cat <file; cat file - <<<y
(set -o noclobber; echo z >file) 2>/dev/null || echo "not overwritten"
