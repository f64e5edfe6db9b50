/*
 * Where a query's pattern can begin: the kinds of node at its root, read from its text.
 *
 * tree-sitter tries a query by walking over the whole tree with all its machinery, and tells
 * nobody what a pattern begins with.  Whoever knows the kinds can set the machinery to work only
 * where something can begin.  What this reader does not take for certain begins anywhere.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tree_sitter/api.h>

#define ROOTS_MAX 24U

struct roots {
	TSSymbol kinds[ROOTS_MAX]; /* as ts_node_symbol() tells them */
	uint32_t count;
	bool anywhere; /* not known: `count` means nothing */
};

/* `text` is one pattern with its conditions, such as tree-sitter has taken it for a query. */
void roots_read(const TSLanguage *language, const char *text, size_t len, struct roots *ret_roots);
