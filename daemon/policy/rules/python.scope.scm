; What a name is at its place, for Python.  This query runs only if a rule would find a name.
; syntax.h lists the captures, scopes.h says what counts as bound.

; ---- a label, a target, or one part of something longer ------------------------------------

(_ attribute: (identifier) @attribute)
(attribute object: (identifier) @part)
(keyword_argument name: (identifier) @keyword)

(import_statement name: (dotted_name (identifier) @store))
(import_statement name: (aliased_import name: (dotted_name (identifier) @store)))
(import_from_statement module_name: (dotted_name (identifier) @store))
(import_from_statement module_name: (relative_import (dotted_name (identifier) @store)))
(import_from_statement name: (dotted_name (identifier) @store))
(import_from_statement name: (aliased_import name: (dotted_name (identifier) @store)))
(aliased_import alias: (identifier) @store)
(future_import_statement name: (dotted_name (identifier) @store))

; A string that is a statement is a comment.
(expression_statement (string) @harmless)

; The setter of a property.  The functions that rules find have no such attributes.
((decorator (attribute object: (identifier) @store attribute: (identifier) @_half))
  (#any-of? @_half "setter" "getter" "deleter"))

; ---- what binds in the function around it --------------------------------------------------

(function_definition name: (identifier) @store @bind)
(class_definition name: (identifier) @store @bind)
(assignment left: (identifier) @store @bind)
(named_expression name: (identifier) @store @bind)
(for_statement left: (identifier) @store @bind)
; Only patterns on the left bind.  The grammar also has them on the right (see the end).
(assignment left: [
  (pattern_list [
    (identifier) @store @bind
    (list_splat_pattern (identifier) @store @bind)
    (tuple_pattern (identifier) @store @bind)
    (list_pattern (identifier) @store @bind)
  ])
  (tuple_pattern (identifier) @store @bind)
  (list_pattern (identifier) @store @bind)
])
(for_statement left: [
  (pattern_list [
    (identifier) @store @bind
    (list_splat_pattern (identifier) @store @bind)
    (tuple_pattern (identifier) @store @bind)
  ])
  (tuple_pattern (identifier) @store @bind)
])
(as_pattern_target (identifier) @store @bind)
(as_pattern_target (tuple (identifier) @store @bind))
(case_pattern (dotted_name . (identifier) @store @bind .))
(case_pattern (as_pattern (case_pattern) (identifier) @store @bind))
(splat_pattern (identifier) @store @bind)
(import_from_statement name: (dotted_name (identifier) @imported))
(aliased_import alias: (identifier) @imported)

; ---- what binds over a range of its own ----------------------------------------------------

(function_definition
  parameters: (parameters [
    (identifier) @store @bind
    (default_parameter name: (identifier) @store @bind)
    (typed_default_parameter name: (identifier) @store @bind)
    (list_splat_pattern (identifier) @store @bind)
    (dictionary_splat_pattern (identifier) @store @bind)
    (typed_parameter [
      (list_splat_pattern (identifier) @store @bind)
      (dictionary_splat_pattern (identifier) @store @bind)
    ])
  ])
  body: (block) @in)
(function_definition
  parameters: (parameters (typed_parameter . (identifier) @store @bind))
  body: (block) @in)
(lambda
  parameters: (lambda_parameters [
    (identifier) @store @bind
    (default_parameter name: (identifier) @store @bind)
    (list_splat_pattern (identifier) @store @bind)
    (dictionary_splat_pattern (identifier) @store @bind)
  ])
  body: (_) @in)

(for_in_clause left: [
  (identifier) @store
  (pattern_list [
    (identifier) @store
    (tuple_pattern (identifier) @store)
  ])
  (tuple_pattern (identifier) @store)
])
(list_comprehension body: (_) @in (for_in_clause left: (identifier) @bind))
(set_comprehension body: (_) @in (for_in_clause left: (identifier) @bind))
(generator_expression body: (_) @in (for_in_clause left: (identifier) @bind))
(dictionary_comprehension body: (_) @in (for_in_clause left: (identifier) @bind))
(list_comprehension body: (_) @in
  (for_in_clause left: (pattern_list (identifier) @bind)))
(set_comprehension body: (_) @in
  (for_in_clause left: (pattern_list (identifier) @bind)))
(generator_expression body: (_) @in
  (for_in_clause left: (pattern_list (identifier) @bind)))
(dictionary_comprehension body: (_) @in
  (for_in_clause left: (pattern_list (identifier) @bind)))

(for_statement left: (identifier) @bind body: (block) @block)
(for_statement left: (pattern_list (identifier) @bind) body: (block) @block)
(with_statement
  (with_clause (with_item value: (as_pattern
    alias: (as_pattern_target (identifier) @bind))))
  body: (block) @block)

; ---- what certainly binds from one statement on ---------------------------------------------

(_ (expression_statement (assignment left: (identifier) @bind right: (_))) @after) @within
(_ (expression_statement
  (assignment left: (pattern_list (identifier) @bind) right: (_))) @after) @within
(_ (function_definition name: (identifier) @bind) @after) @within
(_ (class_definition name: (identifier) @bind) @after) @within
(_ (decorated_definition definition: (_ name: (identifier) @bind)) @after) @within
(_ (import_from_statement name: (dotted_name (identifier) @imported)) @after) @within
(_ (import_from_statement name: (aliased_import alias: (identifier) @imported)) @after) @within
(_ (import_statement name: (aliased_import alias: (identifier) @imported)) @after) @within

; ---- what takes the excuse away --------------------------------------------------------------

(delete_statement) @unbind
(global_statement) @unbind
(except_clause (as_pattern alias: (as_pattern_target) @unbind))

; ---- where functions and classes are --------------------------------------------------------

(function_definition body: (block) @function)
(lambda body: (_) @function)
(class_definition body: (block) @class)

; ---- where the tree must not be believed ------------------------------------------------------

; The grammar joins `a, b = f, 1` and a next line that begins with a bracket to one statement.
[
  (expression_statement)
  (return_statement)
  (raise_statement)
  (delete_statement)
  (assert_statement)
  (type_alias_statement)
  (print_statement)
  (exec_statement)
] @statement
