; The rules for bash.  The head of python.scm says how rules are written.
;
; A command is known by its name without quotes.  If the name depends on the run (a variable, a
; substitution, a pattern), the command is dynamic.  Functions of the program itself are no findings;
; the rules check their bodies.

; ---- commands ------------------------------------------------------------------------------

;;; bash.command.dangerous
;;; finds   command in bash.commands.dangerous
;;; unless  bound harmless
;;; message this command runs text as code, starts other programs, or reaches the system
;;; hint    write out what is to be done, with the commands that work on text

;;; bash.command.denied
;;; finds   command not in bash.commands
;;; unless  bound harmless
;;; message this command is not among those that the policy allows
;;; hint    use what the shell does itself, and the commands that work on text, such as sort, cut and wc

;;; bash.command.dynamic
;;; finds   dynamic
;;; message which command this is cannot be told before the program runs
;;; hint    write the command's name as it is

;;; bash.suspicious.runs_text
;;; finds   command in bash.runners
;;; unless  bound
;;; message this runs text as code
;;; hint    write out what is to be done
(command name: (command_name) @name)

; Commands that run another command, which is an argument.

;;; bash.command.dangerous
;;; finds   command in bash.commands.dangerous
;;; unless  harmless
;;; message this command runs text as code, starts other programs, or reaches the system
;;; hint    write out what is to be done, with the commands that work on text
((command name: (command_name) @_wrapper argument: (_) @name)
  (#any-of? @_wrapper "command" "builtin" "exec" "env" "nohup" "time" "xargs"
    "coproc" "nice" "timeout" "setsid" "stdbuf" "busybox"))

;;; bash.suspicious.decode
;;; finds   command in { -d --decode -D }
;;; beside  bash.suspicious.runs_text
;;; message text is decoded in a program that runs text as code
;;; hint    write the program as it is, not packed
((command name: (command_name) @_decoder argument: (word) @name)
  (#any-of? @_decoder "base64" "base32" "basenc" "openssl" "gzip" "xz"))

;;; bash.argument.denied
;;; finds   command in bash.arguments
;;; message with this option the command starts another program, or runs text
;;; hint    leave the option out
(command argument: [(word) (string) (raw_string) (concatenation)] @name)

;;; bash.argument.denied
;;; finds   command in { -C* -tC* -nC* -dC* -sC* -uC* -Ot* }
;;; message with this option the command starts another program, or runs text
;;; hint    leave the option out
((command name: (command_name) @_reader
  argument: [(word) (string) (raw_string) (concatenation)] @name)
  (#any-of? @_reader "mapfile" "readarray"))

;;; bash.unset.dynamic
;;; finds   any
;;; message which function is forgotten cannot be told before the program runs
;;; hint    write the function's name as it is
((unset_command (word) @_option [
  (simple_expansion)
  (expansion)
  (string)
  (ansi_c_string)
  (translated_string)
  (concatenation)
  (command_substitution)
] @name)
  (#any-of? @_option "-f"))

; ---- redirections ----------------------------------------------------------------------------

;;; bash.text.network
;;; finds   command in { /dev/tcp/* /dev/udp/* }
;;; message the shell opens a network connection for this name
;;; hint    pass the data in on stdin or as a file
[(word) (string) (raw_string) (concatenation)] @name

;;; bash.redirect.denied
;;; finds   command not in bash.redirects
;;; message this reads or writes a file that the policy does not allow
;;; hint    read stdin, write stdout; here-documents hold what else is needed

;;; bash.redirect.dynamic
;;; finds   dynamic
;;; message where this goes cannot be told before the program runs
;;; hint    read stdin, write stdout; here-documents hold what else is needed
(file_redirect destination: [
  (word)
  (string)
  (raw_string)
  (ansi_c_string)
  (translated_string)
  (concatenation)
  (simple_expansion)
  (expansion)
  (command_substitution)
] @name)

; The grammar puts all words behind a redirection into it, although they belong to the command.

;;; bash.argument.denied
;;; finds   command in { -* }
;;; message behind a redirection an option is not seen as the command's
;;; hint    put redirections behind all that the command is given

;;; bash.variable.denied
;;; finds   command in bash.variables
;;; message this variable decides which programs or which code the shell runs
;;; hint    leave it as it is

;;; bash.variable.denied
;;; finds   command in { PATH=* ENV=* BASH_* PS4=* PROMPT_COMMAND=* LD_* SHELLOPTS=* BASHOPTS=* GCONV_PATH=* }
;;; message this variable decides which programs or which code the shell runs
;;; hint    leave it as it is

;;; bash.command.dangerous
;;; finds   command in bash.commands.dangerous
;;; message this command runs text as code, starts other programs, or reaches the system
;;; hint    write out what is to be done, with the commands that work on text
(file_redirect destination: (_) [(word) (string) (raw_string) (concatenation)] @name)
(heredoc_redirect argument: [(word) (string) (raw_string) (concatenation)] @name)

; ---- variables and expansions ----------------------------------------------------------------

;;; bash.variable.denied
;;; finds   word in bash.variables
;;; message this variable decides which programs or which code the shell runs
;;; hint    leave it as it is
(variable_assignment name: (variable_name) @name)
(variable_assignment name: (subscript name: (variable_name) @name))
(declaration_command (variable_name) @name)
(for_statement variable: (variable_name) @name)

;;; bash.variable.denied
;;; finds   command in bash.variables
;;; message this variable decides which programs or which code the shell runs
;;; hint    leave it as it is
((command name: (command_name) @_setter argument: [(word) (string) (raw_string)] @name)
  (#any-of? @_setter "read" "printf" "mapfile" "readarray" "getopts" "let"))

;;; bash.variable.denied
;;; finds   command in { PATH=* ENV=* BASH_* PS4=* PROMPT_COMMAND=* LD_* SHELLOPTS=* BASHOPTS=* GCONV_PATH=* }
;;; message this variable decides which programs or which code the shell runs
;;; hint    leave it as it is
(declaration_command [(string) (raw_string) (concatenation)] @name)
((command name: (command_name) @_setter argument: [(word) (string) (raw_string)] @name)
  (#any-of? @_setter "let"))

;;; bash.variable.denied
;;; finds   word in bash.variables
;;; message this variable decides which programs or which code the shell runs
;;; hint    leave it as it is
(compound_statement (binary_expression left: (variable_name) @name))
(compound_statement (binary_expression left: (word) @name))

;;; bash.variable.reference
;;; finds   command in { -n* -gn* -rn* -xn* -ln* -un* -In* }
;;; message a name that stands for another variable hides which one is set
;;; hint    use the variable itself, or an array
(declaration_command ["declare" "typeset" "local"] (word) @name)

;;; bash.expansion.prompt
;;; finds   any
;;; message this expansion runs what the variable's text says
;;; hint    use the variable's value
(expansion operator: "@" operator: "P" @name)

;;; bash.suspicious.subscript
;;; finds   subscript
;;; message a substitution in a subscript runs when the text is used as a number or a name
;;; hint    compute the index first, and use plain numbers
[(raw_string) (ansi_c_string) (string)] @name

; ---- what readers may understand differently ---------------------------------------------------

;;; bash.syntax.delimiter
;;; finds   delimiter
;;; message where this here-document ends is read differently by different readers
;;; hint    use a plain word, in quotes or without
(heredoc_redirect (heredoc_start) @name)

;;; bash.syntax.backtick
;;; finds   backtick
;;; message backticks in backticks hide what is run
;;; hint    write $(…)
(command_substitution) @name @substitution

;;; bash.syntax.hidden
;;; finds   substitution
;;; message what is substituted here cannot be read
;;; hint    write it into a variable before, with x=$(…)
(regex) @name
(expansion (word) @name)
(heredoc_redirect (heredoc_start) @name (heredoc_body) @at)

; ---- texts -------------------------------------------------------------------------------------

;;; bash.text.url
;;; finds   url not in bash.urls
;;; message a program in a jail reaches no network
;;; hint    pass the data in on stdin or as a file

;;; bash.text.opaque
;;; finds   opaque
;;; number  bash.opaque
;;; message nobody can read what this text holds
;;; hint    pass data on stdin or as a file; write code as it is
[(word) (string) (raw_string) (ansi_c_string) (heredoc_body)] @name

;;; bash.input.reads
;;; finds   command in { read mapfile readarray }
;;; unless  bound
;;; number  bash.reads
;;; message the program reads its input in more places than the policy lets it
;;; hint    read the whole input once, and take it apart
(command name: (command_name) @name)
