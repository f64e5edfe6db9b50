/* Bounds on what is spent, as the administrator wrote them; budgets.h says what they mean. */
#pragma once

#include <stdint.h>

#include "daemon/settings/config_table.h"

enum budget_scope {
	BUDGET_UID,
	BUDGET_AGENT,
	BUDGET_TASK,
	BUDGET_SCOPE_COUNT,
};

/* 0: no bound.  In the order of enum budget_measure. */
struct budget_limits {
#define BUDGET_FIELD(name, uid, agent, task, highest, meaning) uint64_t name;
	CONFIG_BUDGETS(BUDGET_FIELD)
#undef BUDGET_FIELD
};
