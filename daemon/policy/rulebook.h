/*
 * All rules and all compiled policies: what inspectors are sent, and the meaning of their answers.
 * Made once from the shipped files and the operator's folder, and never changed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/policy/policy_file.h"
#include "daemon/policy/rule_sources.h"
#include "proto/base/buf.h"
#include "proto/internal/inspectmsg.h"
#include "proto/job/job.h"
#include "proto/value.h"

/* Of policy.late. */
#define POLICY_LATE_MESSAGE "checking the program takes more work or room than an inspector has"

struct book_language {
	const char *name;
	struct inspect_language texts;
	const char *builtin_ids[INSPECT_BUILTIN_COUNT]; /* "python.bytes.nul" … */
};

struct policy {
	const char *name;
	const char *description;
	uint32_t index;
	enum policy_mode strictest; /* of all its rules */
	bool *languages;            /* by language: may it be checked? */
	bool *has_rules;            /* by language: is any rule on? */
	struct policy_bounds bounds;
	enum policy_mode *modes;    /* by rule */
	enum policy_mode *builtins; /* by language * INSPECT_BUILTIN_COUNT + builtin */
	enum policy_at *at;         /* by rule */
	struct bytes *run_rules;    /* by language: the rules that its workers enforce */
	const struct inspect_setting *settings; /* by rule: as inspectors get them */
	char digest[HASH_TEXT_LEN + 1];
};

struct rulebook {
	struct arena arena;
	struct book_language *languages;
	uint32_t language_count;
	struct rule *rules; /* of all languages, one table */
	uint32_t rule_count;
	struct policy *policies;
	uint32_t policy_count;
	const struct inspect_list *lists;
	struct buf message; /* RULES, ready to be sent */
};

/*
 * `folder` has the operator's .json files, which replace shipped policies of the same name, and
 * .scm files, whose rules are added to the shipped ones; may be NULL.
 */
struct rulebook *rulebook_load(const char *folder, struct err *err);
void rulebook_free(struct rulebook *book);

const struct policy *rulebook_find(const struct rulebook *book, const char *name);

/* Whether any rule, also one that needs no file, has an id that the pattern fits. */
bool rulebook_has_rule(const struct rulebook *book, const char *pattern);

/* The index of a language that has rules; -1 for others. */
int rulebook_language(const struct rulebook *book, const char *name);

/* Whether programs of a language that may be checked may also run. */
bool rulebook_executes(const struct policy *policy, const char *language);

/* Whether the policy lets programs of a language without rules run unchecked. */
bool rulebook_lets_unread(const struct policy *policy, const char *language);

/* The id, texts and mode of a finding. */
struct rule_words {
	const char *id;
	const char *message;
	const char *hint;
	enum policy_mode mode;
};

/* Whether the policy checks the text of a program against this rule. */
bool policy_reads(const struct policy *policy, uint32_t rule);

/* As rulebook_words(), by the rule's id; false: the language has no such rule that denies. */
bool rulebook_words_of(const struct rulebook *book, const struct policy *policy, uint32_t language,
	const char *id, struct rule_words *ret_words);

struct rule_words rulebook_words(
	const struct rulebook *book, const struct policy *policy, uint32_t language, uint32_t rule);

/* [{name, description, languages, executes, unread, digest, default}] */
struct value *rulebook_describe(
	const struct rulebook *book, const struct policy *standard, struct arena *arena);

/*
 * One of these maps, with {limits, most} and rules
 * [{id, language, severity, at, finds, words, number, message, hint}].
 */
struct value *rulebook_show(const struct rulebook *book, const struct policy *policy,
	bool is_default, struct arena *arena);
