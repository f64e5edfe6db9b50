/*
 * Holds one subject, which a match brought, against one rule of a policy.
 *
 * A struct trial is what it is judged by: the rules, the policy's settings and lists, and what
 * the program's imports call things.  All of it is borrowed from the inspector.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/inspector/imports.h"
#include "daemon/inspector/words.h"
#include "proto/inspectmsg.h"

/* The rules that one pattern serves: [first, first + count) of the table. */
struct span {
	uint32_t first;
	uint32_t count;
};

/* What of a match a rule needs: one path of at most two captures, and where the finding is. */
struct subject {
	struct span rules;
	struct place names[2];
	struct place at;
};

struct trial {
	const struct inspect_rule *rules;
	const struct inspect_setting *settings; /* of the policy */
	const struct words *lists;
	const struct imports *imports;
	const struct place *substitutions; /* that the tree has, in their order */
	const uint32_t *substitution_count;
	const char *code; /* ends with a NUL */
};

/* One name, read once for all rules that look at it. */
struct trial_word {
	struct name name;
	uint32_t hash;
};

/* Whether the rule can be tried only when all imports, or all substitutions, are known. */
bool trial_needs_word(uint32_t subject);
bool trial_needs_imports(const struct trial *trial, uint32_t rule);

/*
 * Whether the rule finds the subject; what its `unless` excuses is not looked at.  May make
 * subject->at narrower.  `word` is what stands there, read once for all rules that share it.
 */
bool trial_fits(const struct trial *trial, uint32_t rule, struct subject *subject,
	const struct trial_word *word);
