/*
 * Where a query's pattern can begin: the kinds of node at its root, read from its text.
 *
 * tree-sitter tries a query by walking over the whole tree with all its machinery, and tells
 * nobody what a pattern begins with.  Whoever knows the kinds can walk over the tree himself and
 * set the machinery to work only where something can begin; and a pattern that is a node alone,
 * `(identifier) @name`, needs none.  What this reader does not take for certain begins anywhere.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tree_sitter/api.h>

#define ROOTS_MAX         24U
#define ROOT_CAPTURES_MAX 4U

struct root {
	TSSymbol kind; /* as ts_node_symbol() tells it */
	bool alone;    /* nothing is asked of what is in the node */
	uint16_t capture_count;
	uint16_t captures[ROOT_CAPTURES_MAX]; /* of the node itself, by tree-sitter's number */
};

struct roots {
	struct root roots[ROOTS_MAX];
	uint32_t count;
	bool anywhere; /* not known: `count` means nothing */
};

/* `text` is one pattern with its conditions, such as tree-sitter has taken it for the query. */
void roots_read(const TSQuery *query, const TSLanguage *language, const char *text, size_t len,
	struct roots *ret_roots);
