echo 'single $HOME' "double \$x \"q\"" $'tab\tnew\\' a\ b
echo {a,b}{1,2} pre{,fix} "{not,expanded}"
var='  spaced   out  '; echo $var; echo "$var"
IFS=,; list="x,y,z"; for item in $list; do echo "$item"; done
