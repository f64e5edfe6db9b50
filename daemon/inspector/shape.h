/*
 * A query's pattern as steps that can be gone through without tree-sitter (fit.h).
 *
 * Read from its text are nodes in nodes, fields, names for what is found, alternatives in
 * brackets, and dots for what stands first or next.  What may come more than once or not at all,
 * what stands last, brackets without a node, and whatever else is seldom, is left to tree-sitter;
 * so are the few places where it does not look for all that a pattern says.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tree_sitter/api.h>

#define STEP_CAPTURES_MAX  3U
#define SHAPE_CAPTURES_MAX 16U

struct shape_step {
	TSSymbol kind;   /* as ts_node_symbol() tells it */
	TSFieldId field; /* 0: any or none */
	bool any;        /* every named node that could be read, whatever its kind */
	bool immediate;  /* no named node is skipped before it */
	bool once;       /* only the first node with the field is tried */
	bool captured;   /* it, or something in it, has a name */
	bool asked;      /* the pattern's condition is about this one */
	uint8_t capture_count;
	uint16_t captures[STEP_CAPTURES_MAX]; /* by tree-sitter's number */
	uint32_t inside;                      /* the first step in it, or 0 */
	uint32_t next;                        /* the step behind it, or 0 */
	uint32_t other;                       /* what may stand in its place, or 0 */
};

/* Steps are known by their place, from 1 on. */
struct shapes {
	struct shape_step *steps;
	uint32_t count;
	uint32_t size;
};

/* `asked`: the capture that the pattern's condition is about; else SHAPE_ASKED_NONE. */
#define SHAPE_ASKED_NONE UINT32_MAX

/*
 * The first of the steps where the pattern can begin, each with the next as its `other`; 0 when it
 * is left to tree-sitter, or there is no memory.
 */
uint32_t shape_read(struct shapes *shapes, const TSQuery *query, const TSLanguage *language,
	const char *text, size_t len, uint32_t asked);
void shapes_done(struct shapes *shapes);
