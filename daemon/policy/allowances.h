/*
 * The limits that a run gets by default, and the highest ones it may ask for.  Besides the general
 * limits, the administrator can set some for a runtime, a policy, a group or a user.
 *
 * A limit of the runtime replaces the general one.  A limit of the caller's group replaces that,
 * and one of the user replaces both.  A policy's default replaces the others too, but its ceiling
 * only lowers theirs, so that a strict policy stays strict.  A default above the resulting ceiling
 * is reduced to it.
 */
#pragma once

#include "daemon/policy/policy.h"
#include "daemon/settings/config.h"
#include "proto/value.h"

/* The run that the limits are for.  Names may be NULL: none, or not known. */
struct allowance_case {
	const char *runtime;
	const char *policy; /* NULL: the configured one */
	bool has_caller;
	uint32_t uid, gid;
};

/* The limits of this case: `general` itself if nothing else is set, else in *room. */
const struct job_bounds *allowances_bounds(const struct config *config,
	const struct job_bounds *general, const struct allowance_case *what,
	struct job_bounds *room);

/*
 * Adds the limits of policy files before the administrator's, so that the latter take precedence.
 */
int allowances_add_policies(
	struct config *config, const struct policies *policies, struct err *err);

/* The budgets of this case.  A policy's budgets only lower the others. */
void allowances_budgets(const struct config *config, const struct allowance_case *what,
	struct budget_limits ret_budgets[BUDGET_SCOPE_COUNT]);

/*
 * Whether a run of this case may ask for a host, or a pattern, and a port.  The list of the user
 * replaces that of the group, that of the runtime, and the general one; a list of the policy must
 * hold it besides.
 */
bool allowances_cover_host(const struct config *config, const struct allowance_case *what,
	const char *host, uint16_t port);

/* [{for, name, limits, most}]: only the limits that are set. */
struct value *allowances_describe(const struct config *config, struct arena *arena);
