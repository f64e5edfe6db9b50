/*
 * Checks one subject, the part of a match that a rule is about, against one rule of a policy.
 *
 * A struct rule_context has what that needs: the rules, the policy's settings and lists, and the
 * names that the program imports.  The inspector owns all of it.
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

/* The part of a match that a rule needs: a path of one or two captures, and the finding's place. */
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
	struct effort *effort;             /* a name may stand for many imports */
	const struct place *substitutions; /* of the tree, sorted by their start */
	const uint32_t *substitution_count;
	const char *code; /* ends with a NUL */
};

/*
 * The words of a subject.  They are read when a rule first needs them, for all rules that follow.
 */
struct subject_words {
	bool has_word;
	uint32_t hash;    /* of the word */
	struct name word; /* one name: the text at subject->at */
	bool has_path;
	bool is_path; /* it is a path, not a call or the like */
	struct name path;
	bool has_command;
	bool is_closed;      /* nothing in it depends on the run */
	struct name command; /* as the shell reads it, without a folder like /usr/bin */
};

void subject_words_reset(struct subject_words *words);

/* Whether the rule must wait until all imports and substitutions are known. */
bool rule_needs_imports(uint32_t subject);

/*
 * Whether the rule finds the subject, before its `unless` is considered.  May narrow subject->at.
 * `words` belongs to this subject; the caller resets it before the first rule.
 */
bool rule_matches(const struct rule_context *context, uint32_t rule, struct subject *subject,
	struct subject_words *words);
