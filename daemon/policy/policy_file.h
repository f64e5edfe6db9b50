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
 *	  "most": { "wall_ms": 10000 }                 that a run may ask for
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
	AT_COUNT
};

struct policy_place {
	const char *id; /* as in struct policy_pattern */
	enum policy_at at;
};

/* Whether a pattern (a rule's id, or the beginning of one with * after it) fits this rule. */
bool policy_pattern_fits(const char *pattern, const char *id);

struct policy_pattern {
	const char *id; /* of a rule, or the beginning of one with * after it */
	enum policy_mode mode;
};

struct policy_number {
	const char *name;
	uint32_t value;
};

struct policy_words {
	const char *name;
	const char **words;
	size_t count;
};

struct policy_file {
	const char *name;
	const char *description;
	const char *extends;    /* or NULL */
	const char **languages; /* NULL: as in `extends` */
	size_t language_count;
	const char **executes; /* NULL: as in `extends` */
	size_t execute_count;
	const char **unread; /* NULL: as in `extends` */
	size_t unread_count;
	const char **entries; /* names that a program may run as; NULL: as in `extends` */
	size_t entry_count;
	uint64_t code_bytes;    /* of one text; POLICY_LIMIT_UNSET: as in `extends` */
	bool has_safe_builtins; /* the list python.builtins.denied was made from it */
	struct policy_pattern *patterns;
	size_t pattern_count;
	struct policy_place *places;
	size_t place_count;
	struct policy_words *lists;
	size_t list_count;
	struct policy_words *added;
	size_t added_count;
	struct policy_number *numbers;
	size_t number_count;
	struct job_limits limits, most; /* POLICY_LIMIT_UNSET if not given */
};

/* Reads a text; what it returns lives in the arena. */
int policy_file_parse(struct arena *arena, const char *text, size_t len,
	struct policy_file *ret_file, struct err *err);
