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
 * patterns fit a rule, the longest counts; if none does, the parent policy decides.  The form of
 * the text for workers is in sandbox/runtimes/python/rules.h.
 */
#pragma once

#include "daemon/policy/rulebook.h"

/* The rules must be in the book already. */
int policies_compile(struct rulebook *book, const char *folder, struct err *err);
