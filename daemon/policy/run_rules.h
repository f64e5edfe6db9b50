/*
 * Where the rules of a policy hold: over the text of a program, over what it does while it runs, or
 * both, which is usual; and what a worker is told of those that hold while it runs.
 *
 *	"at": { "python.*": "run", "python.import.denied": "both" }
 *
 * As with modes, the longest pattern that fits a rule counts; what `extends` says holds where none fits.
 * Workers of Python enforce some rules, and only a few of these so completely that they may hold there
 * alone.  A pattern with * changes nothing where a worker cannot do what it says; to name one such rule
 * with `run` is an error.
 *
 * A worker gets one text for its language, with the rules that deny; sandbox/runtimes/python/rules.h
 * describes its form.
 */
#pragma once

#include "daemon/policy/book_making.h"

/* Fills in policy->at and policy->run_rules, when its modes and lists are there. */
int run_rules_make(struct making *making, struct policy *policy, struct draft *draft,
	const struct policy *parent);
