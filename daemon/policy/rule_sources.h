/*
 * The rules of each language as one text: the shipped file, and after it the operator's files
 * `<language>.<anything>.scm`, in the order of their names.
 *
 * A line `;@ <file>` precedes each file, so that an error in the text can be reported with its
 * file.
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
 * Reads the rules of every language that has shipped ones; `folder` may be NULL.  A file for
 * another language is rejected.  The results live in the arena.
 */
int rule_sources_load(struct arena *arena, const char *folder, struct rule_source **ret_texts,
	size_t *ret_count, struct err *err);
