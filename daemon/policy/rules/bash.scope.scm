; What a name is at its place, for bash.  This query runs only if a rule would find a name.
;
; A function replaces a command from its definition to the end of the block.  In other functions it
; does so before the definition too, if nothing can have called one of them by then.

; A definition counts in these.  In a list or a pipeline it may not run, or run in another shell.
[
  (case_item (function_definition name: (word) @bind) @after)
  (command_substitution (function_definition name: (word) @bind) @after)
  (compound_statement (function_definition name: (word) @bind) @after)
  (do_group (function_definition name: (word) @bind) @after)
  (elif_clause (function_definition name: (word) @bind) @after)
  (else_clause (function_definition name: (word) @bind) @after)
  (if_statement (function_definition name: (word) @bind) @after)
  (process_substitution (function_definition name: (word) @bind) @after)
  (program (function_definition name: (word) @bind) @after)
  (redirected_statement (function_definition name: (word) @bind) @after)
  (subshell (function_definition name: (word) @bind) @after)
  (while_statement (function_definition name: (word) @bind) @after)
] @within
(program (function_definition name: (word) @bind @later))
(unset_command) @unbind
; A definition in the background runs in another shell.
(case_item (function_definition) @unbind . "&")
(command_substitution (function_definition) @unbind . "&")
(compound_statement (function_definition) @unbind . "&")
(do_group (function_definition) @unbind . "&")
(elif_clause (function_definition) @unbind . "&")
(else_clause (function_definition) @unbind . "&")
(if_statement (function_definition) @unbind . "&")
(process_substitution (function_definition) @unbind . "&")
(program (function_definition) @unbind . "&")
(subshell (function_definition) @unbind . "&")
(while_statement (function_definition) @unbind . "&")
; If `else` or `elif` runs, this definition did not.
(if_statement (function_definition) @unbind [(elif_clause) (else_clause)])

; These commands call no function of the program.
((command name: (command_name) @call)
  (#not-any-of? @call ":" "echo" "printf" "set" "shopt" "true" "read" "umask"))
; If the program defines a function of such a name, a call of it counts.
((function_definition name: (word) @call)
  (#any-of? @call ":" "echo" "printf" "set" "shopt" "true" "read" "umask"))

; `command -v name` runs nothing.
((command name: (command_name) @harmless . argument: (word) @_option)
  (#any-of? @_option "-v" "-V"))
((command name: (command_name) . argument: (word) @_option argument: (_) @harmless)
  (#any-of? @_option "-v" "-V"))

; In a here-document the grammar reads $((a + b)) as a subshell.
(heredoc_body (command_substitution (subshell)) @sum)

(function_definition body: (_) @function)
