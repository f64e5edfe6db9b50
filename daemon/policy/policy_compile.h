/*
 * Compiles the policies of a rulebook: the shipped ones and those in the operator's folder.
 *
 * A policy file sets modes, lists and numbers for the rules, and may extend another policy.  The
 * result is struct policy (rulebook.h): the settings for inspectors, the RULES message with all of
 * them, and for each language the text of the rules that a worker enforces while the program runs.
 *
 *	"at": { "python.*": "run", "python.import.denied": "both" }
 *
 * "at" says where a rule holds: over the text, over the run, or both (the usual case).  If several
 * patterns fit a rule, the longest counts.  If none does, the parent policy decides.  Workers of
 * Python enforce some rules, and only few of them so completely that they may hold there alone.  A
 * pattern with * changes nothing for a rule that a worker cannot enforce that way.  To name one
 * such rule with `run` is an error.  sandbox/runtimes/python/rules.h describes the text for
 * workers.
 */
#pragma once

#include "daemon/policy/rulebook.h"

/* The rules must be in the book already. */
int policies_compile(struct rulebook *book, const char *folder, struct err *err);
