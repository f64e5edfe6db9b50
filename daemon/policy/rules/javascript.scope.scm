; What a name is at its place, for JavaScript.  This query runs only if a rule would find a name.
;
; `let`, `const`, classes and parameters hold in their block; `var` and functions in their function.
; At the top, a `var` binds nothing: `var require` keeps node's own function.  An import binds
; nothing either, since it may import the very thing that the rule finds.

; ---- a target, or one part of something longer ----------------------------------------------

(variable_declarator name: (identifier) @store)
(function_declaration name: (identifier) @store)
(generator_function_declaration name: (identifier) @store)
(function_expression name: (identifier) @store)
(generator_function name: (identifier) @store)
(class_declaration name: (identifier) @store)
(class name: (identifier) @store)
(formal_parameters (identifier) @store)
(formal_parameters (assignment_pattern left: (identifier) @store))
(formal_parameters (rest_pattern (identifier) @store))
(arrow_function parameter: (identifier) @store)
(catch_clause parameter: (identifier) @store)
(array_pattern (identifier) @store)
(array_pattern (assignment_pattern left: (identifier) @store))
(pair_pattern value: (identifier) @store)
(pair_pattern value: (assignment_pattern left: (identifier) @store))
(rest_pattern (identifier) @store)
(for_in_statement kind: _ left: (identifier) @store)
(import_specifier name: (identifier) @store)
(import_specifier alias: (identifier) @store)
(import_clause (identifier) @store)
(namespace_import (identifier) @store)
(export_specifier alias: (identifier) @store)

(member_expression object: (identifier) @part)
(call_expression function: (identifier) @called arguments: (arguments))

; ---- what does no harm -----------------------------------------------------------------------

; `if (require.main === module)`, and what a module exports.
((binary_expression
  left: (member_expression object: (identifier) @harmless property: (property_identifier) @_main)
  right: (identifier) @harmless)
  (#any-of? @_main "main"))
((assignment_expression
  left: (member_expression object: (identifier) @harmless property: (property_identifier) @_exports))
  (#any-of? @_exports "exports"))
((assignment_expression left: (member_expression object: (member_expression
  object: (identifier) @harmless property: (property_identifier) @_exports)))
  (#any-of? @_exports "exports"))
; typeof and instanceof.
(_ operator: "typeof" argument: (identifier) @harmless)
(_ operator: "instanceof" right: (identifier) @harmless)
; x.constructor.name, and comparisons.
((member_expression
  object: (member_expression property: (property_identifier) @harmless)
  property: (property_identifier) @_name)
  (#any-of? @_name "name"))
(binary_expression
  left: (member_expression property: (property_identifier) @harmless)
  operator: ["===" "!==" "==" "!="])
(_ operator: ["===" "!==" "==" "!="] right: [
  (member_expression property: (property_identifier) @harmless)
  (string) @harmless
])
; Strings in comparisons, as in code that guards against such keys.
(binary_expression left: (string) @harmless operator: ["===" "!==" "==" "!="])
(switch_case value: (string) @harmless)
((call_expression function: (member_expression
  object: (array (string) @harmless) property: (property_identifier) @_has))
  (#any-of? @_has "includes" "indexOf"))
((new_expression constructor: (identifier) @_set arguments: (arguments (array (string) @harmless)))
  (#any-of? @_set "Set"))
((call_expression
  function: (member_expression object: (identifier) @_console)
  arguments: (arguments (string) @harmless))
  (#any-of? @_console "console"))
(pair key: (string) @harmless)
; Error.captureStackTrace(this, this.constructor).
((call_expression
  function: (member_expression property: (property_identifier) @_capture)
  arguments: (arguments (member_expression property: (property_identifier) @harmless)))
  (#any-of? @_capture "captureStackTrace"))
; Methods of a prototype that return their object.
((assignment_expression
  left: (member_expression object: (member_expression property: (property_identifier) @_prototype))
  right: (function_expression body: (statement_block (return_statement (this) @harmless))))
  (#any-of? @_prototype "prototype"))

; ---- what binds in the program, a block or a function -----------------------------------------

(program (function_declaration name: (identifier) @bind)) @in
(program (generator_function_declaration name: (identifier) @bind)) @in
(program (export_statement declaration: (function_declaration name: (identifier) @bind))) @in
(program (export_statement declaration: (class_declaration name: (identifier) @bind))) @in
(program (export_statement declaration: (lexical_declaration
  (variable_declarator name: (identifier) @bind)))) @in
; In a program, a block, or the head of a `for`.
(_ (class_declaration name: (identifier) @bind)) @in
(_ (lexical_declaration (variable_declarator name: [
  (identifier) @bind
  (object_pattern [
    (shorthand_property_identifier_pattern) @bind
    (pair_pattern value: (identifier) @bind)
  ])
  (array_pattern (identifier) @bind)
]))) @in
(function_declaration body: (statement_block (function_declaration name: (identifier) @bind)) @in)
(function_expression body: (statement_block (function_declaration name: (identifier) @bind)) @in)
(arrow_function body: (statement_block (function_declaration name: (identifier) @bind)) @in)
(method_definition body: (statement_block (function_declaration name: (identifier) @bind)) @in)
(for_in_statement kind: ["const" "let"] left: [
  (identifier) @bind
  (array_pattern (identifier) @bind)
  (object_pattern (shorthand_property_identifier_pattern) @bind)
] body: (_) @in)
(catch_clause parameter: (identifier) @bind body: (_) @in)
(_ parameters: (formal_parameters [
  (identifier) @bind
  (assignment_pattern left: (identifier) @bind)
  (rest_pattern (identifier) @bind)
  (object_pattern [
    (shorthand_property_identifier_pattern) @bind
    (object_assignment_pattern left: (shorthand_property_identifier_pattern) @bind)
    (pair_pattern value: (identifier) @bind)
  ])
  (array_pattern (identifier) @bind)
]) body: (_) @in)
(arrow_function parameter: (identifier) @bind body: (_) @in)
(function_expression name: (identifier) @bind body: (_) @in)
(class_declaration name: (identifier) @bind body: (_) @in)

; A `var` binds in its function, and nothing outside of one.
(variable_declaration (variable_declarator name: (identifier) @bind))

; ---- where functions are -----------------------------------------------------------------------

[
  (function_declaration body: (_) @own @function)
  (generator_function_declaration body: (_) @own @function)
  (function_expression body: (_) @own @function)
  (generator_function body: (_) @own @function)
  (method_definition body: (_) @own @function)
]
; Arrow functions have no `arguments` of their own.
(arrow_function body: (_) @function)
(class_static_block body: (_) @function)
