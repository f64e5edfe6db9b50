(exit 7); echo $?
true && echo yes || echo no
false || echo or
ls /no/such/folder 2>/dev/null; echo $?
no_such_command_anywhere 2>/dev/null; echo $?
exit 42
