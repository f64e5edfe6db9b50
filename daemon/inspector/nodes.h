/*
 * A tree as one table: its nodes in the order in which they begin, each before what is in it.
 *
 * tree-sitter's own ways over its tree cost so much at each node that going once, and over this
 * table from then on, is several times as cheap.  A part of syntax.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <tree_sitter/api.h>

struct node {
	uint32_t start; /* bytes */
	uint32_t end;
	uint32_t
		next; /* the node behind this one and all that is in it; what is between, is in it */
	uint32_t up;  /* what this one is in */
	TSSymbol kind; /* as ts_node_symbol() tells it */
	TSFieldId field;
	bool named;
};

/* What need not be known of a tree. */
struct nodes_wish {
	const bool *plain;   /* by kind: to be kept, though it is no named node */
	const bool *holders; /* by kind: what is right in it, is to be known with its field */
	uint32_t kind_count; /* what lies above is wished for */
};

struct nodes {
	struct node *nodes;
	uint32_t count;
	uint32_t size;
};

typedef bool nodes_is_late(void *context);

/* False when late, or without memory; then there are none.  A smaller tree needs no memory. */
bool nodes_read(struct nodes *nodes, TSNode root, const struct nodes_wish *wish,
	nodes_is_late *is_late, void *context);
void nodes_done(struct nodes *nodes);
