/*
 * What a program is held to while it runs: the part of its policy that came with the job.
 *
 * A text, one rule and list a line, written by daemon/policy/run_rules.c:
 *
 *	rule TAB list TAB word TAB word ... NEWLINE
 *
 * Only rules that deny come.  A word stands for itself; a.b.* for a.b and what is below; *.a for each
 * path of several names that ends in a, and *._ for one whose last name begins with one underscore.
 * Rules that nobody here looks for are passed over: the text has been judged before.
 */
#pragma once

#include <Python.h>
#include <stdbool.h>

#include "sandbox/program.h"

enum rule {
	RULE_IMPORT_DANGEROUS,
	RULE_IMPORT_DENIED,
	RULE_IMPORT_MEMBER,
	RULE_IMPORT_RELATIVE,
	RULE_IMPORT_STAR,
	RULE_IMPORT_VALUE,
	RULE_IMPORT_CLASS,
	RULE_CALL_DENIED,
	RULE_ATTRIBUTE_DENIED,
	RULE_FORMAT_DENIED,
	RULE_NAME_DENIED,
	RULE_BUILTIN_DENIED,
	RULE_TEXT_NAME,
	RULE_DUNDER_DENIED,
	RULE_COUNT,
};

struct rules {
	bool on[RULE_COUNT];
	PyObject *words[RULE_COUNT]; /* a frozenset, which nobody can change; NULL: no list */
};

/* 0, or -1 with an exception set. */
int rules_read(struct rules *rules, struct span text);

const char *rule_id(enum rule rule);

/* Whether the rule is on and breaks with this very word. */
bool rules_break_word(const struct rules *rules, enum rule rule, PyObject *word);

/* The same with a path, and with the stars that stand for it. */
bool rules_break_path(const struct rules *rules, enum rule rule, PyObject *path);

/* A name between double underscores that is not among those that are allowed. */
bool rules_break_dunder(const struct rules *rules, PyObject *name);
