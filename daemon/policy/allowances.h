/*
 * What a run gets and may ask for, where the administrator has set numbers for its runtime, its
 * policy or its caller beside those for all.
 *
 * A number that is named for the runtime takes the place of the general one, one for the caller
 * (by group, then by user) the place of that.  A policy's default does the same, but its ceiling
 * only lowers: whoever runs under a strict policy stays under it.  A default above the ceiling that
 * comes of this is that ceiling.
 */
#pragma once

#include "daemon/policy/policy.h"
#include "daemon/settings/config.h"
#include "proto/value.h"

/* Whom the numbers are for.  Names may be NULL: none, or not known. */
struct allowance_case {
	const char *runtime;
	const char *policy; /* NULL: the configured one */
	bool has_caller;
	uint32_t uid, gid;
};

/* The bounds of this case: `general` itself where nothing is set, else *room. */
const struct job_bounds *allowances_bounds(const struct config *config,
	const struct job_bounds *general, const struct allowance_case *what,
	struct job_bounds *room);

/* Adds the numbers that policies bring with them, in front of the administrator's, which count more. */
int allowances_add_policies(
	struct config *config, const struct policies *policies, struct err *err);

/* The same for what the case may spend: a policy's bounds only lower. */
void allowances_budgets(const struct config *config, const struct allowance_case *what,
	struct budget_limits ret_budgets[BUDGET_SCOPE_COUNT]);

/* [{for, name, limits, most}]: what is set, and only that. */
struct value *allowances_describe(const struct config *config, struct arena *arena);
