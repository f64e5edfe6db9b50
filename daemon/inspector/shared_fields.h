/*
 * Fields that a grammar gives to a node that is not seen, and so to all that is in it.  Which of
 * those tree-sitter looks at is not to be told from outside.
 *
 * Kept by hand, and held by unit.roots: it goes through every field of the grammars that has several
 * nodes, and a row that is missing, or that a newer grammar wants otherwise, shows there as patterns
 * that find other things than tree-sitter's own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct shared_field {
	const char *language; /* as ts_language_name() tells it */
	const char *kind;     /* of the node that has the field */
	const char *field;
	bool once; /* tree-sitter looks at the first node with it; else nobody knows */
};

/* The row of a field of this kind of node, or of any when `kind` is NULL.  NULL: it is shared nowhere. */
const struct shared_field *shared_field_find(
	const char *language, const char *kind, const char *name, size_t len);
