/* Bounds on spending, as the administrator wrote them.  See budgets.h for their meaning. */
#pragma once

#include <stdint.h>

#include "daemon/settings/config_table.h"

enum budget_scope {
	BUDGET_UID,
	BUDGET_AGENT,
	BUDGET_TASK,
	BUDGET_SCOPE_COUNT,
};

/* 0: no bound.  The fields are in the order of enum budget_measure. */
struct budget_limits {
#define BUDGET_FIELD(name, uid, agent, task, highest, meaning) uint64_t name;
	CONFIG_BUDGETS(BUDGET_FIELD)
#undef BUDGET_FIELD
};
