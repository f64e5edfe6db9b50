/*
 * The tools that `cectl mcp` offers: a table of names, methods of the daemon, and how arguments
 * become params and results become answers.  What a client reads about a tool, schemas included,
 * is the file tools/NAME.json.
 */
#pragma once

#include <stdbool.h>

#include "cli/mcp/answer.h"
#include "proto/base/err.h"
#include "proto/schema/schema.h"
#include "proto/value.h"

enum tool_kind {
	TOOL_ASKS,
	TOOL_RUNS,  /* it starts a program: it can be cancelled, and tells its progress */
	TOOL_WAITS, /* for a program that goes on without it */
};

struct tool {
	const char *name;
	const char *method;
	enum tool_kind kind;
	/* Changes the params, which are a copy of the arguments.  -1: the arguments are wrong. */
	int (*prepare)(struct arena *arena, struct value *params, struct err *err);
	void (*present)(
		struct answer *answer, const struct value *params, const struct value *result);
};

#define TOOLS_MAX 16

/* The table with its files read, once at the start. */
struct toolset {
	struct arena arena;
	struct value *listed; /* as tools/list answers */
	const struct schema *inputs[TOOLS_MAX];
	const struct value *defaults; /* params that the command line fixed for every run */
};

/* Keeps `defaults`. */
int toolset_init(struct toolset *set, const struct value *defaults, struct err *err);
void toolset_done(struct toolset *set);

/* NULL: there is none; *err says which was meant. */
const struct tool *toolset_find(const char *name, struct err *err);

/*
 * The params for the daemon.  0; or -1: the arguments break the tool's schema, and the message says
 * where.
 */
int toolset_params(const struct toolset *set, const struct tool *tool,
	const struct value *arguments, struct arena *arena, struct value **ret_params,
	struct err *err);
