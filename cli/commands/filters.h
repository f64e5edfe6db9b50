/* The options that choose among recorded runs, for `runs` and `stats`. */
#pragma once

#include "cli/base/option_values.h"

// clang-format off
#define FILTER(letter, name, argument, param, value, meaning) \
	{ letter, name, argument, OPTION_ONCE, param, value, meaning }
#define FILTER_ROWS \
	FILTER(0, "since", "TIME", "since", option_moment, \
		"received since: 1h, 2d, today, yesterday, 10:30, 2026-11-20T10:30"), \
	FILTER(0, "until", "TIME", "until", option_moment, "received before"), \
	FILTER(0, "outcome", "WORD", "outcome", NULL, \
		"ok, exit, exception, policy_denied, memory_limit ..."), \
	FILTER('l', "language", "LANG", "language", option_language, "of this language"), \
	FILTER('u', "uid", "USER", "uid", option_user, \
		"of this caller, a name or a uid (administrators)"), \
	FILTER(0, "agent", "NAME", "agent", NULL, "of this agent"), \
	FILTER(0, "task", "NAME", "task", NULL, "of this task"), \
	FILTER(0, "policy", "NAME", "policy", NULL, "judged by this policy"), \
	FILTER(0, "rule", "NAME", "rule", NULL, "in which this rule found something"), \
	FILTER(0, "session", "SESSION", "session", NULL, "cells of this session"), \
	FILTER(0, "code-hash", "HASH", "code_hash", option_hash, "of this very program: sha256:..."), \
	FILTER(0, "label", "K=V", "label", option_label, "with this label"), \
	FILTER(0, "text", "WORDS", "text", NULL, "with all these words in its program or its output")
// clang-format on
