/*
 * Holds one subject, which a match brought, against one rule of a policy.
 *
 * A struct rule_context is what it is judged by: the rules, the policy's settings and lists, and what
 * the program's imports call things.  All of it is borrowed from the inspector.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/inspector/effort.h"
#include "daemon/inspector/imports.h"
#include "daemon/inspector/words.h"
#include "proto/internal/inspectmsg.h"

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

struct rule_context {
	const struct inspect_rule *rules;
	const struct inspect_setting *settings; /* of the policy */
	const struct words *lists;
	const struct imports *imports;
	struct effort *effort;             /* a name may stand for very many things */
	const struct place *substitutions; /* that the tree has, sorted by their start */
	const uint32_t *substitution_count;
	const char *code; /* ends with a NUL */
};

/* What a subject says, read when a rule first asks, and once for all rules that share the subject. */
struct subject_words {
	bool has_word;
	uint32_t hash;    /* of the word */
	struct name word; /* one name: what stands at subject->at */
	bool has_path;
	bool is_path; /* and not the result of a call or the like */
	struct name path;
	bool has_command;
	bool is_closed;      /* nothing in it is told only when the program runs */
	struct name command; /* as the shell reads it, without the host's own folders */
};

void subject_words_reset(struct subject_words *words);

/* Whether the rule can be tried only when all imports, or all substitutions, are known. */
bool rule_needs_imports(uint32_t subject);

/*
 * Whether the rule finds the subject; what its `unless` excuses is not looked at.  May make
 * subject->at narrower.  `words` is of this subject, reset before the first rule.
 */
bool rule_matches(const struct rule_context *context, uint32_t rule, struct subject *subject,
	struct subject_words *words);
