/* Describes a rulebook in replies: `hello`, policies.list, policies.show. */
#pragma once

#include "daemon/policy/rulebook.h"
#include "proto/value.h"

/* [{name, description, languages, executes, unread, digest, default}] */
struct value *rulebook_describe(
	const struct rulebook *book, const struct policy *standard, struct arena *arena);

/*
 * One of these maps, with {limits, most} and rules
 * [{id, language, severity, at, finds, words, number, message, hint}].
 */
struct value *rulebook_show(const struct rulebook *book, const struct policy *policy,
	bool is_default, struct arena *arena);
