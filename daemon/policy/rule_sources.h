/*
 * The rules of each language as one text: the shipped file, and behind it those that an operator
 * has put into his folder as `<language>.<anything>.scm`, in the order of their names.
 *
 * In front of each stands a line `;@ <file>`, so that who finds a fault in the text can say where.
 */
#pragma once

#include <stddef.h>

#include "daemon/policy/rules_file.h"
#include "proto/base/arena.h"
#include "proto/base/err.h"

#define RULE_FILES_MAX 256U /* of an operator's folder */

struct rule_source {
	const char *language;
	const char *rules; /* patterns and heads */
	size_t rules_len;
	const char *scope;
	size_t scope_len;
	struct rule *heads; /* `start` counts from the beginning of `rules` */
	size_t head_count;
};

/*
 * Every language that has shipped rules; `folder` may be NULL.  A file for a language that has
 * none is refused.  All that comes back lives in the arena.
 */
int rule_sources_load(struct arena *arena, const char *folder, struct rule_source **ret_texts,
	size_t *ret_count, struct err *err);
