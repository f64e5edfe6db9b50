/* Checks the names of policies, rules and languages that the configuration has. */
#pragma once

#include "daemon/policy/policy.h"
#include "daemon/settings/config.h"

/* Takes the policy of runs that name none.  Refuses it, and sections of policies, if unknown. */
int policy_names_take(struct policies *policies, const struct config *config, struct err *err);

/* Refuses alerts that could never occur, because no policy has the rule or nothing the language. */
int policy_names_check_alerts(
	const struct policies *policies, const struct config *config, struct err *err);
