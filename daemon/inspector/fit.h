/*
 * Holds the steps of a pattern (shape.h) against a node and what is in it (nodes.h), and tells
 * every way in which they fit, as tree-sitter would.  A part of syntax.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/inspector/nodes.h"
#include "daemon/inspector/shape.h"

struct fit_capture {
	uint32_t node;
	uint32_t id; /* tree-sitter's number */
};

struct fit {
	const struct shape_step *steps;
	const struct node *nodes;
	/* Whether the pattern's condition holds for the node. */
	bool (*holds)(void *context, uint32_t node);
	void (*on_fit)(void *context, const struct fit_capture *captures, uint32_t count);
	bool (*is_late)(void *context);
	void *context;
	bool late;
	uint32_t tries;
	uint32_t count;
	struct fit_capture captures[SHAPE_CAPTURES_MAX];
};

/* Whether the pattern fits which begins with this very step, and not another in its place. */
void fit_at(struct fit *fit, uint32_t step, uint32_t node);
