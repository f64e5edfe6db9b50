/*
 * One policy as its file says it, before policy_compile.c applies it to the rules.
 *
 *	{
 *	  "name": "strict",
 *	  "description": "…",
 *	  "extends": "base",              what is missing here comes from there
 *	  "languages": ["python", "bash"],   those that may be checked …
 *	  "executes": ["python"],            … and those of them that may run (default: all)
 *	  "unread": ["perl"],             languages without rules: they run unchecked, with a finding
 *	  "rules": { "python.bytes.*": "deny", "python.import.denied": "observe" },
 *	  "at": { "python.*": "run" },    where rules hold: text, run or both (policy_compile.h)
 *	  "lists": { "python.imports": ["json", "numpy.*"] },        in place of the list of `extends`
 *	  "lists_add": { "python.imports": ["sys"] },                on top of it
 *	  "numbers": { "python.reads": 16 },           of rules that count
 *	  "limits": { "wall_ms": 2000 },               of runs that ask for nothing
 *	  "most": { "wall_ms": 10000 },                that a run may ask for
 *	  "tools": { "ask": ["send_*"], "deny": ["drop"] }   calls of its client's tools, by name
 *	}
 *
 * A mode is deny, ask (a person decides), observe or off.  If several patterns fit a rule, the
 * longest counts.  A rule that none fits is denied.  An unknown key is an error.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/job/job.h"

#define POLICY_FILE_MAX     ((size_t)1 << 20)
#define POLICY_NAME_MAX     64U
#define POLICY_PATTERNS_MAX 256U
#define POLICY_FILE_LISTS   64U
#define POLICY_NUMBERS_MAX  64U
#define POLICY_LIMIT_UNSET  UINT64_MAX

/* From strict to mild. */
enum policy_mode {
	MODE_DENY,
	MODE_ASK,
	MODE_OBSERVE,
	MODE_OFF,
	MODE_COUNT
};

const char *policy_mode_word(enum policy_mode mode);

/* Where a rule holds (policy_compile.h). */
enum policy_at {
	AT_BOTH,
	AT_TEXT,
	AT_RUN,
};

const char *policy_at_word(enum policy_at at);

/* Whether a pattern (a rule's id, or the beginning of one with * after it) fits this rule. */
bool policy_pattern_fits(const char *pattern, const char *id);

/* Sets the mode of some rules, or where they hold. */
struct policy_choice {
	const char *id; /* of a rule, or the beginning of one with * after it */
	unsigned value; /* enum policy_mode, or enum policy_at */
};

/* From the shortest id to the longest, so that the longest has the last word. */
struct policy_choices {
	struct policy_choice *rows;
	size_t count;
};

struct policy_number {
	const char *name;
	uint32_t value;
};

struct policy_words {
	const char *name;
	const char **words; /* NULL: the policy does not say */
	size_t count;
};

bool policy_words_have(const struct policy_words *list, const char *word);

struct policy_lists {
	struct policy_words *lists;
	size_t count;
};

/*
 * Names of tools, or beginnings of names with * after them.  A tool that several lists fit is in the
 * first of them.  If there is a list `allow`, a tool that no list fits is denied, else allowed.
 */
struct policy_tools {
	struct policy_words deny, ask, allow;
};

/* A policy inherits each of these from `extends` unless its file sets it. */
struct policy_bounds {
	struct policy_words executes;   /* languages that may run; NULL: all that may be checked */
	struct policy_words unread;     /* languages that run unchecked */
	struct policy_words entries;    /* names that a program may run as; NULL: any */
	uint64_t code_bytes;            /* of one text, at most; or POLICY_LIMIT_UNSET */
	struct job_limits limits, most; /* or POLICY_LIMIT_UNSET, each of them */
	unsigned
		network; /* what it does with a run that asks for one: 1 + policy_decision; 0: unset */
	struct policy_tools tools; /* each list by itself */
};

struct policy_file {
	const char *name;
	const char *description;
	const char *extends;           /* or NULL */
	struct policy_words languages; /* NULL: as in `extends` */
	struct policy_bounds bounds;
	struct policy_words denied_builtins; /* made from `safe_builtins`; NULL: not given */
	struct policy_choices modes, places;
	struct policy_lists lists, added;
	struct policy_number *numbers;
	size_t number_count;
};

/* Reads a text; what it returns lives in the arena. */
int policy_file_parse(struct arena *arena, const char *text, size_t len,
	struct policy_file *ret_file, struct err *err);
