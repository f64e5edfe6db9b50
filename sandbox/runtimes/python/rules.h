/*
 * The rules that a program is held to while it runs: the part of its policy that came with the job.
 *
 * daemon/policy/policy_compile.c writes them as a text, one line for each rule:
 *
 *	rule TAB list TAB word TAB word ... NEWLINE
 *
 * Only rules that deny come.  The word a.b.* stands for a.b and all paths below it; *.a for every
 * path of several names that ends in a; *._ for a path whose last name begins with one underscore.
 * Any other word stands for itself.  A rule that is not in enum rule is skipped.
 */
#pragma once

#include <Python.h>
#include <stdbool.h>

#include "sandbox/worker/program.h"

enum rule {
	RULE_IMPORT_DANGEROUS,
	RULE_IMPORT_DENIED,
	RULE_IMPORT_MEMBER,
	RULE_CALL_DENIED,
	RULE_ATTRIBUTE_DENIED,
	RULE_NAME_DENIED,
	RULE_BUILTIN_DENIED,
	RULE_DUNDER_DENIED,
	RULE_COUNT,
};

struct rules {
	bool on[RULE_COUNT];
	PyObject *words
		[RULE_COUNT]; /* frozensets, which no program can change; NULL: the rule is off */
};

/* 0, or -1 with an exception set. */
int rules_read(struct rules *rules, struct span text);

const char *rule_id(enum rule rule);

/* Whether the rule is on and breaks with this very word. */
bool rules_break_word(const struct rules *rules, enum rule rule, PyObject *word);

/* The same with a path, which words with a star may also stand for. */
bool rules_break_path(const struct rules *rules, enum rule rule, PyObject *path);

/* A name between double underscores that is not among those that are allowed. */
bool rules_break_dunder(const struct rules *rules, PyObject *name);
