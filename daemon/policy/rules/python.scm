; The rules for Python.
;
; A rule is a head of `;;;` lines and the tree-sitter patterns behind it.  Several heads in a row
; share the patterns that follow them.  A head has these lines:
;
;     ;;; <id>                            stable: it is used in findings and policies
;     ;;; finds   <subject> [in|not in <list>]    a list of the policy, or { words }
;     ;;; unless  <words>                 where a name is no finding (see inspectmsg.h)
;     ;;; beside  <id>                    only if that rule finds something too, even if it is off
;     ;;; number  <name>                  how many places are allowed; of `opaque`: how long a text;
;                                         a number of the policy, or a number
;     ;;; message <one sentence>          what is wrong
;     ;;; hint    <one sentence>          what to write instead
;
; A policy sets each id to deny, ask, observe or off, and fills the lists.  If several rules find the
; same place, the report has the first one in this file.
;
; @name is the text that is checked (two make one path), @at is the place of the finding.
; @import.module, @import.member and @import.alias declare what names stand for.
;
; A query is fast if a match begins late: (_ attribute: (identifier) @at) begins at the identifier.
; With (attribute ...) at the root, the match would stay unfinished during all of its object.

; ---- imports -----------------------------------------------------------------------------

;;; python.import.dangerous
;;; finds   path in python.imports.dangerous
;;; message this module reaches the system, other programs or the network
;;; hint    do without it: work on the data that is given, and print the result

;;; python.import.denied
;;; finds   path not in python.imports
;;; message this module is not among those that the policy allows
;;; hint    use the modules that the policy allows, such as json, math, statistics, re or datetime
(import_statement name: (dotted_name) @name @import.module)
(import_statement name: (aliased_import
  name: (dotted_name) @name @import.module
  alias: (identifier) @import.alias))
(import_from_statement module_name: (dotted_name) @name)

;;; python.import.member
;;; finds   path in python.members
;;; message this part of the module reaches beyond what the module is for
;;; hint    use the documented functions of the module that work on plain data
(import_from_statement
  module_name: (dotted_name) @name @import.module
  name: (dotted_name) @name @at @import.member)
(import_from_statement
  module_name: (dotted_name) @name @import.module
  name: (aliased_import
    name: (dotted_name) @name @at @import.member
    alias: (identifier) @import.alias))

;;; python.import.relative
;;; finds   any
;;; message a program that stands alone has no package to import from
;;; hint    put everything into one program
(import_from_statement module_name: (relative_import) @name)

;;; python.import.star
;;; finds   any
;;; message a star import brings names that cannot be told beforehand
;;; hint    import the names that are used
(import_from_statement (wildcard_import) @name)

;;; python.import.class
;;; finds   any
;;; message an import in the body of a class makes the module an attribute, which nobody can follow
;;; hint    import at the top of the program
(class_definition body: (block [(import_statement) (import_from_statement)] @name))
(class_definition body: (block (if_statement
  consequence: (block [(import_statement) (import_from_statement)] @name))))
(class_definition body: (block (for_statement
  body: (block [(import_statement) (import_from_statement)] @name))))
(class_definition body: (block (with_statement
  body: (block [(import_statement) (import_from_statement)] @name))))
(class_definition body: (block (try_statement
  body: (block [(import_statement) (import_from_statement)] @name))))

; ---- calls -------------------------------------------------------------------------------

;;; python.call.denied
;;; finds   use in python.calls
;;; unless  bound
;;; message this call runs text as code, opens files or starts programs
;;; hint    write out what is to be computed; data comes on stdin and leaves by print

;;; python.suspicious.runs_text
;;; finds   use in python.runners
;;; unless  bound
;;; message this runs text as code
;;; hint    write out what is to be computed

;;; python.suspicious.decode
;;; finds   use in python.decoders
;;; unless  bound
;;; beside  python.suspicious.runs_text
;;; message text is decoded in a program that runs text as code
;;; hint    write the program as it is, not packed

;;; python.input.reads
;;; finds   use in python.readers
;;; unless  bound
;;; number  python.reads
;;; message the program reads its input in more places than the policy lets it
;;; hint    read the whole input once, and take it apart
(call function: [(identifier) (attribute)] @name)

;;; python.call.denied
;;; finds   use in python.calls.plain
;;; unless  bound
;;; message with more than one argument this call copies attributes that are named by text
;;; hint    pass the function alone
(call
  function: [(identifier) (attribute)] @name
  arguments: (argument_list . (_) . (_)))

;;; python.call.denied
;;; finds   use in python.calls.making
;;; unless  bound
;;; message with three arguments this call makes a class whose parts are named by text
;;; hint    write a class statement
(call
  function: (identifier) @name
  arguments: (argument_list . (_) . (_) . (_)))

; ---- attributes --------------------------------------------------------------------------

;;; python.attribute.denied
;;; finds   word in python.attributes
;;; message this attribute leads from plain objects to frames, code or classes at large
;;; hint    use the object itself and its documented methods

;;; python.import.member
;;; finds   use in python.members
;;; unless  bound
;;; message this part of the module reaches beyond what the module is for
;;; hint    use the documented functions of the module that work on plain data
(_ attribute: (identifier) @at) @name

;;; python.attribute.denied
;;; finds   word in python.attributes
;;; message this attribute leads from plain objects to frames, code or classes at large
;;; hint    use the object itself and its documented methods
(keyword_pattern . (identifier) @name)

;;; python.format.denied
;;; finds   template in python.dunders
;;; message a format template reaches for an attribute that begins with an underscore
;;; hint    format plain values; take attributes out before
((call function: (attribute
  object: [(string) (concatenated_string) (binary_operator) (parenthesized_expression)] @name
  attribute: (identifier) @_method))
  (#any-of? @_method "format" "format_map"))
((call
  function: (attribute attribute: (identifier) @_method)
  arguments: (argument_list . [(string) (concatenated_string) (binary_operator)
    (parenthesized_expression)] @name))
  (#any-of? @_method "format" "format_map"))

; ---- names -------------------------------------------------------------------------------

;;; python.name.denied
;;; finds   word in python.names
;;; unless  attribute keyword store bound
;;; message this name gives the power to run text as code, to open files or to reach any object
;;; hint    write out what is to be computed, without the name

;;; python.builtin.denied
;;; finds   word in python.builtins.denied
;;; unless  attribute keyword store bound
;;; message this builtin is not among those that the policy allows
;;; hint    use the builtins that the policy allows

;;; python.dunder.denied
;;; finds   dunder not in python.dunders
;;; message this special name leads behind the objects that the program was given
;;; hint    use type(), len(), str() and their like; special names only to define methods

;;; python.import.value
;;; finds   module
;;; unless  attribute keyword store part bound
;;; message a module used as a value hides what is taken from it
;;; hint    write module.name where it is used

;;; python.suspicious.runs_text
;;; finds   word in { eval exec compile __import__ }
;;; unless  attribute keyword store bound
;;; message this runs text as code
;;; hint    write out what is to be computed

;;; python.suspicious.socket
;;; finds   word in python.sockets
;;; unless  keyword bound
;;; message a program that stands alone has nobody to open a connection to
;;; hint    work on the data that is given
(identifier) @name

; ---- texts -------------------------------------------------------------------------------------

;;; python.text.url
;;; finds   url not in python.urls
;;; unless  harmless
;;; message a program in a jail reaches no network
;;; hint    pass the data in on stdin or as a file

;;; python.text.opaque
;;; finds   opaque
;;; number  python.opaque
;;; message nobody can read what this text holds
;;; hint    pass data on stdin or as a file; write code as it is
(string) @name

; The inside of an f-string is code, and other rules check it.
;;; python.text.name
;;; finds   text in python.texts
;;; message this text names an attribute that leads behind the objects that the program was given
;;; hint    use the object itself and its documented methods

;;; python.format.denied
;;; finds   template in python.dunders
;;; message a format template reaches for an attribute that begins with an underscore
;;; hint    format plain values; take attributes out before
((string (string_start) @_start) @name
  (#any-of? @_start "\"" "'" "\"\"\"" "'''" "r\"" "r'" "r\"\"\"" "r'''" "R\"" "R'" "u\"" "u'"))

; ---- what Python 3 does not have -----------------------------------------------------------

;;; python.syntax.python2
;;; finds   any
;;; message this is a statement of Python 2
;;; hint    call print() as a function
(exec_statement) @name
(print_statement) @name
