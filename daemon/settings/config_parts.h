/* What the files that read the configuration share; libconfuse is known to them alone. */
#pragma once

#include <confuse.h>

#include "daemon/settings/config.h"
#include "proto/base/err.h"

/* A text that must fit. */
int config_take_text(char *text, size_t size, const char *name, const char *given, struct err *err);

/* ---- config_numbers.c ----------------------------------------------------------------------- */

struct number_rule {
	const char *name;
	size_t offset; /* in the set that it belongs to */
	uint64_t otherwise, lowest, highest;
	const char *meaning;
};

struct number_table {
	const struct number_rule *rules;
	size_t count;
};

extern const struct number_table config_general;  /* of struct config */
extern const struct number_table config_limits;   /* of struct job_limits */
extern const struct number_table config_most;     /* the same, as the most that may be asked for */
extern const struct number_table config_spending; /* of struct budget_limits */

extern cfg_opt_t config_limit_options[];
extern cfg_opt_t config_budget_options[];

/* Sections with numbers, which stand at the top, in a runtime and in an allowance. */
#define CONFIG_NUMBER_SECTIONS()                                           \
	CFG_SEC("budget_uid", config_budget_options, CFGF_NONE),           \
		CFG_SEC("budget_agent", config_budget_options, CFGF_NONE), \
		CFG_SEC("budget_task", config_budget_options, CFGF_NONE),  \
		CFG_SEC("limits", config_limit_options, CFGF_NONE),        \
		CFG_SEC("most", config_limit_options, CFGF_NONE)

/* For CFG_INT_CB: a number with its unit, within the bounds of its row. */
int config_on_number(cfg_t *section, cfg_opt_t *option, const char *text, void *ret);

/* Digits, and a unit that suits the name: times for ..._ms, sizes for everything else. */
int config_read_number(const char *name, const char *text, uint64_t *ret_number);

uint64_t config_number(const void *set, const struct number_rule *rule);

void config_default_numbers(void *set, const struct number_table *table);

/* What is not written stays as it is.  How many were written. */
unsigned config_take_numbers(void *set, cfg_t *section, const struct number_table *table);

/* No limit that is set is above the most of its kind. */
int config_check_limits(
	const struct job_limits *some, const struct job_limits *most_of_them, struct err *err);

/* ---- config_runtime.c ----------------------------------------------------------------------- */

extern cfg_opt_t config_runtime_options[];

int config_take_runtimes(struct config *config, cfg_t *cfg, struct err *err);

/* Drops those that are off, fills in what was left to all, and checks what belongs together. */
int config_finish_runtimes(struct config *config, struct err *err);

/* ---- config_allowance.c --------------------------------------------------------------------- */

extern cfg_opt_t config_allowance_options[];

void config_default_budgets(struct budget_limits budgets[BUDGET_SCOPE_COUNT]);

/* What is not written stays as it is.  How many were written. */
unsigned config_take_budgets(struct budget_limits budgets[BUDGET_SCOPE_COUNT], cfg_t *cfg);

int config_take_allowances(struct config *config, cfg_t *cfg, struct err *err);

void config_print_allowances(const struct config *config, FILE *out);

/* ---- config_alerts.c ------------------------------------------------------------------------ */

extern cfg_opt_t config_alert_options[];
extern const struct number_table config_alert_numbers; /* of struct alert_rule */

int config_take_alerts(struct config *config, cfg_t *cfg, struct err *err);
