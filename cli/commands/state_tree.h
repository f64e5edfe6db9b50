/*
 * The states of a session: a cell makes a state from the one in which it began.  A session that went
 * back has branches.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/session/cli.h"

struct state_row {
	uint64_t cell;       /* its number, and that of the state it made */
	uint64_t from;       /* the state in which it began; 0: the beginning */
	bool is_undone;      /* it made no state */
	bool is_kept;        /* the session can go back to it */
	const char *pin;     /* it is pinned, under this name or ""; or NULL */
	bool is_here;        /* the session stands here */
	const char *outcome; /* shown unless it is "ok" */
	const char *text;    /* of its program, of which one line is shown */
	size_t len;
	char *owned;  /* what its owner frees, or NULL */
	size_t depth; /* set by state_tree_show() */
};

/*
 * Prints the rows, which are in the order of their numbers, as a tree: cells that follow each other are
 * below each other, and each branch is indented.
 */
void state_tree_show(struct cli *cli, struct state_row *rows, size_t count);

/* The row of a state; NULL: there is none. */
struct state_row *state_tree_find(struct state_row *rows, size_t count, uint64_t state);
