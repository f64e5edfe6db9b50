/* The options that choose among recorded runs, for `runs` and `stats`. */
#pragma once

#include "cli/session/cli.h"

struct filter_options {
	const char *since;
	const char *until;
	const char *outcome;
	const char *language;
	const char *uid;
	const char *agent;
	const char *task;
	const char *policy;
	const char *rule;
	const char *code_hash;
	const char *text;
	const char *label;
};

/* The rows, for a command whose struct `type` holds a struct filter_options called `filter`. */
// clang-format off
#define FILTER_ROW(type, letter, name, argument, field, meaning) \
	{ letter, name, argument, OPTION_ONCE, offsetof(type, filter.field), meaning }
#define FILTER_ROWS(type) \
	FILTER_ROW(type, 0, "since", "TIME", since, \
		"received since: 1h, 2d, today, yesterday, 10:30, 2026-11-20T10:30"), \
	FILTER_ROW(type, 0, "until", "TIME", until, "received before"), \
	FILTER_ROW(type, 0, "outcome", "WORD", outcome, \
		"ok, exit, exception, policy_denied, memory_limit ..."), \
	FILTER_ROW(type, 'l', "language", "LANG", language, "of this language"), \
	FILTER_ROW(type, 'u', "uid", "USER", uid, "of this caller, a name or a uid (administrators)"), \
	FILTER_ROW(type, 0, "agent", "NAME", agent, "of this agent"), \
	FILTER_ROW(type, 0, "task", "NAME", task, "of this task"), \
	FILTER_ROW(type, 0, "policy", "NAME", policy, "judged by this policy"), \
	FILTER_ROW(type, 0, "rule", "NAME", rule, "in which this rule found something"), \
	FILTER_ROW(type, 0, "code-hash", "HASH", code_hash, "of this very program: sha256:..."), \
	FILTER_ROW(type, 0, "label", "K=V", label, "with this label"), \
	FILTER_ROW(type, 0, "text", "WORDS", text, \
		"with all these words in its program or its output")
// clang-format on

/* Adds the filters to the params.  Returns 0, or the exit status after reporting an error. */
int filters_put(struct cli *cli, const struct filter_options *options, struct value *params);
