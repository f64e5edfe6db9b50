/*
 * Limits, the most of each, and budgets: of all runs, and of some runs in sections such as
 * `for_uid NAME { }`.
 */
#pragma once

#include <stdio.h>

#include "daemon/settings/setting.h"

extern const struct setting config_limits[];    /* of struct job_limits */
extern const struct setting config_most[];      /* the same, with the highest as the default */
extern const struct setting config_spending[];  /* of struct budget_limits */
extern const struct setting config_allowance[]; /* of struct config_allowance */

/* Rows of the sections with these numbers, which are fields of `struct of`. */
/* clang-format off */
#define CONFIG_NUMBERS_SECTION(of, word, field, table, ...) \
	{ .name = word, .type = SETTING_SECTION, .offset = offsetof(struct of, field), .section = table, \
		.change = CHANGE_RELOAD, __VA_ARGS__ }
#define CONFIG_EGRESS_ALLOW_MEANING \
	"replaces egress.allow for these runs; in for_policy it restricts"
#define CONFIG_NUMBERS_SECTIONS(of, ...) \
	CONFIG_NUMBERS_SECTION(of, "limits",       limits,                config_limits,   __VA_ARGS__), \
	CONFIG_NUMBERS_SECTION(of, "most",         most,                  config_most,     __VA_ARGS__), \
	CONFIG_NUMBERS_SECTION(of, "budget_uid",   budgets[BUDGET_UID],   config_spending, __VA_ARGS__), \
	CONFIG_NUMBERS_SECTION(of, "budget_agent", budgets[BUDGET_AGENT], config_spending, __VA_ARGS__), \
	CONFIG_NUMBERS_SECTION(of, "budget_task",  budgets[BUDGET_TASK],  config_spending, __VA_ARGS__)
/* clang-format on */

/* "runtime", "policy", "uid" or "gid" */
const char *config_for_word(enum config_for whom);

void config_default_budgets(struct budget_limits budgets[BUDGET_SCOPE_COUNT]);

/* Adds the allowance of a section if it has a number.  A runtime's section may have none. */
int config_take_allowance(void *config, const struct setting *row,
	const struct config_item *section, struct err *err);

/*
 * Refuses a default above its most, a section's limit above every most, and two sections for one
 * user or group, such as one by number and one by name.
 */
int config_check_allowances(const struct config *config, struct err *err);

void config_print_allowances(const struct config *config, FILE *out);
