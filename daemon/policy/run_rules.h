/*
 * Where the rules of a policy hold: over the text of a program, over what it does while it runs, or
 * both, which is usual; and what a worker is told of those that hold while it runs.
 *
 *	"at": { "python.*": "run", "python.import.denied": "both" }
 *
 * As with modes, of several patterns that fit a rule the longest counts; what `extends` says holds
 * where none fits.  A rule that nobody looks for at run time is simply off there.
 *
 * What a worker gets is a text, for each language one, of the rules that deny; its form is in
 * sandbox/runtimes/python/rules.h.
 */
#pragma once

#include "daemon/policy/book_making.h"

/* Fills in policy->at and policy->run_rules, when its modes and lists are there. */
int run_rules_make(struct making *making, struct policy *policy, struct draft *draft,
	const struct policy *parent);
