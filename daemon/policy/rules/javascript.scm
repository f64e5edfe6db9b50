; The rules for JavaScript.  The head of python.scm says how rules are written.
;
; From any value a program reaches every other by two names, `constructor` and `__proto__`.  So rules
; find both wherever they are read, by a dot or by a string.  `this` of a plain function may be the
; global object.  The interpreter may read a comment where the grammar reads code.

; ---- imports -------------------------------------------------------------------------------

;;; javascript.import.dangerous
;;; finds   text in javascript.imports.dangerous
;;; unless  bound
;;; message this module reaches the system, other programs or the network
;;; hint    do without it: work on the data that is given, and print the result

;;; javascript.import.denied
;;; finds   text not in javascript.imports
;;; unless  bound
;;; message this module is not among those that the policy allows, or cannot be told beforehand
;;; hint    use the modules that the policy allows, such as assert, crypto, events, url or util
((call_expression function: (identifier) @name arguments: (arguments . (_) @at))
  (#any-of? @name "require"))
((new_expression constructor: (identifier) @name arguments: (arguments . (_) @at))
  (#any-of? @name "require"))

;;; javascript.import.dangerous
;;; finds   text in javascript.imports.dangerous
;;; message this module reaches the system, other programs or the network
;;; hint    do without it: work on the data that is given, and print the result

;;; javascript.import.denied
;;; finds   text not in javascript.imports
;;; message this module is not among those that the policy allows, or cannot be told beforehand
;;; hint    use the modules that the policy allows, such as assert, crypto, events, url or util
(call_expression function: (import) arguments: (arguments . (_) @name))
(import_statement source: (string) @name)
(export_statement source: (string) @name)

; ---- names ---------------------------------------------------------------------------------

;;; javascript.name.denied
;;; finds   word in javascript.names
;;; unless  store bound harmless
;;; message this name gives the power to run text as code or to reach the system
;;; hint    write out what is to be computed, without the name

;;; javascript.require.value
;;; finds   word in javascript.importers
;;; unless  store bound called harmless
;;; message what brings modules, used as a value, hides what it brings
;;; hint    write require("module") where it is needed

;;; javascript.arguments.module
;;; finds   word in { arguments }
;;; unless  store bound own
;;; message outside of functions these are the module's own powers
;;; hint    use process.argv

;;; javascript.suspicious.runs_text
;;; finds   word in javascript.runners
;;; unless  store bound harmless
;;; message this runs text as code
;;; hint    write out what is to be computed

;;; javascript.suspicious.decode
;;; finds   word in javascript.decoders
;;; unless  store bound
;;; beside  javascript.suspicious.runs_text
;;; message text is decoded in a program that runs text as code
;;; hint    write the program as it is, not packed
[(identifier) (shorthand_property_identifier)] @name

; Programs need only parts of `process`, so the policy lists those.

;;; javascript.process.denied
;;; finds   word not in javascript.process
;;; unless  bound
;;; message this part of `process` reaches the system
;;; hint    use process.stdin, process.stdout, process.argv and process.exit
((member_expression object: (identifier) @name property: (property_identifier) @at)
  (#any-of? @name "process"))

;;; javascript.process.value
;;; finds   any
;;; unless  store part bound harmless
;;; message `process` used as a value hides what is taken from it
;;; hint    write process.stdin, process.argv … where it is used
((identifier) @name (#any-of? @name "process"))
((shorthand_property_identifier) @name (#any-of? @name "process"))

; ---- attributes ----------------------------------------------------------------------------

;;; javascript.attribute.denied
;;; finds   word in javascript.attributes
;;; unless  harmless
;;; message this attribute leads from plain values to what makes code, or to the system
;;; hint    use the value itself and its documented methods

;;; javascript.suspicious.decode
;;; finds   word in javascript.decoders.methods
;;; beside  javascript.suspicious.runs_text
;;; message text is decoded in a program that runs text as code
;;; hint    write the program as it is, not packed
(member_expression property: (property_identifier) @name)

;;; javascript.attribute.denied
;;; finds   word in javascript.attributes
;;; unless  harmless
;;; message this attribute leads from plain values to what makes code, or to the system
;;; hint    use the value itself and its documented methods
(object_pattern [
  (pair_pattern key: (property_identifier) @name)
  (shorthand_property_identifier_pattern) @name
  (object_assignment_pattern left: (shorthand_property_identifier_pattern) @name)
])

;;; javascript.attribute.constructor
;;; finds   word in { constructor }
;;; message the constructor of a constructor makes functions of text
;;; hint    write out what is to be computed
((member_expression
  object: (member_expression property: (property_identifier) @name)
  property: (property_identifier) @_last)
  (#any-of? @_last "constructor"))

;;; javascript.attribute.text
;;; finds   text in javascript.texts
;;; unless  harmless
;;; message this text names an attribute that leads from plain values to what makes code
;;; hint    use the value itself and its documented methods
(string) @name
(pair_pattern key: (computed_property_name (_) @name))
(subscript_expression index: [
  (binary_expression)
  (template_string)
  (parenthesized_expression)
] @name)

; ---- shapes --------------------------------------------------------------------------------

;;; javascript.this.value
;;; finds   any
;;; unless  harmless
;;; message `this` of a plain function may be the global object
;;; hint    use a class, or pass the object
(function_expression body: (statement_block (return_statement (this) @name)))
(function_declaration body: (statement_block (return_statement (this) @name)))

;;; javascript.syntax.with
;;; finds   any
;;; message `with` changes what every name in it means
;;; hint    write object.name
(with_statement "with" @name)

;;; javascript.syntax.html
;;; finds   any
;;; message the interpreter may take this for a comment, and what follows for something else
;;; hint    write comments with // or /* */, and blanks between operators
(html_comment) @name
(_ operator: "<" right: (unary_expression operator: "!" argument:
  (update_expression operator: "--"))) @name
[(jsx_element) (jsx_self_closing_element)] @name

; ---- texts ---------------------------------------------------------------------------------

;;; javascript.text.url
;;; finds   url not in javascript.urls
;;; message a program in a jail reaches no network
;;; hint    pass the data in on stdin or as a file

;;; javascript.text.opaque
;;; finds   opaque
;;; number  javascript.opaque
;;; message nobody can read what this text holds
;;; hint    pass data on stdin or as a file; write code as it is
[(string) (template_string)] @name

;;; javascript.input.reads
;;; finds   word in { stdin }
;;; number  javascript.reads
;;; message the program reads its input in more places than the policy lets it
;;; hint    read the whole input once, and take it apart
((member_expression object: (identifier) @_process property: (property_identifier) @name)
  (#any-of? @_process "process"))
