/* Functions and tables that the files of the configuration reader share. */
#pragma once

#include "daemon/settings/config.h"
#include "daemon/settings/config_text.h"
#include "proto/base/container.h"
#include "proto/base/err.h"

/* Copies a text.  Refuses one that does not fit. */
int config_take_text(char *text, size_t size, const struct config_item *item, const char *given,
	struct err *err);

/* ---- config_keys.c -------------------------------------------------------------------------- */

/*
 * Checks every item against the known settings: name, type, range, and that it is written only
 * once.  Stores numbers, and words for true and false, in `number`.
 */
int config_check_items(struct config_item *whole, struct err *err);

/* Returns the item of this name, or NULL. */
const struct config_item *config_find(const struct config_item *section, const char *name);

/* Returns the next item of this name after `behind` (NULL: the first one), or NULL. */
const struct config_item *config_next(
	const struct config_item *within, const struct config_item *behind, const char *name);

/* Fills *err with "line N: " and the error in this item.  Returns -1. */
int config_fault(struct err *err, const struct config_item *item, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Stores the line of each setting for config_refuse(). */
void config_note_lines(struct config *config, const struct config_item *whole);

/*
 * Fills *err with the error in the value of `key`, and with the file and line that has it, if one
 * has.  Returns -1.
 */
int config_refuse(const struct config *config, struct err *err, const char *key, const char *format,
	...) __attribute__((format(printf, 4, 5)));

/* ---- config_numbers.c ----------------------------------------------------------------------- */

struct number_rule {
	const char *name;
	size_t offset; /* in the struct that its table is for */
	uint64_t otherwise, lowest, highest;
	const char *meaning;
};

struct number_table {
	const struct number_rule *rules;
	size_t count;
};

extern const struct number_table config_general;  /* in struct config */
extern const struct number_table config_limits;   /* in struct job_limits */
extern const struct number_table config_most;     /* the same, the most that a run may request */
extern const struct number_table config_spending; /* in struct budget_limits */

/* Returns the row of this name, or NULL. */
const struct number_rule *number_rule_named(const struct number_table *table, const char *name);

/*
 * Reads digits with a unit that fits the name: a time for ..._ms, ..._s, ..._days; a size for
 * ..._bytes.
 */
int config_read_number(const char *name, const char *text, uint64_t *ret_number);

/* Reads the number of an item, checks its range and stores it in `number`. */
int config_read_item(struct config_item *item, const struct number_rule *rule, struct err *err);

/* Writes a number with its unit: 16777216 of a size is "16mb". */
void config_number_text(char *text, size_t size, const char *name, uint64_t number);

uint64_t config_number(const void *set, const struct number_rule *rule);

void config_default_numbers(void *set, const struct number_table *table);

/* Takes the numbers that are written and leaves the others.  Returns how many were written. */
unsigned config_take_numbers(
	void *set, const struct config_item *section, const struct number_table *table);

/* Refuses a limit that is above the most of its kind.  `prefix` names the section with both. */
int config_check_limits(const struct config *config, const char *prefix,
	const struct job_limits *some, const struct job_limits *most_of_them, struct err *err);

/* ---- config_runtime.c ----------------------------------------------------------------------- */

int config_take_runtimes(struct config *config, const struct config_item *whole, struct err *err);

/* Drops runtimes that are off, fills in general settings, and checks related settings. */
int config_finish_runtimes(struct config *config, struct err *err);

/* ---- config_allowance.c --------------------------------------------------------------------- */

void config_default_budgets(struct budget_limits budgets[BUDGET_SCOPE_COUNT]);

/* Takes the numbers that are written and leaves the others.  Returns how many were written. */
unsigned config_take_budgets(
	struct budget_limits budgets[BUDGET_SCOPE_COUNT], const struct config_item *section);

int config_take_allowances(struct config *config, const struct config_item *whole, struct err *err);

/* Refuses two sections for one user or group, such as one by number and one by name. */
int config_check_twice(const struct config *config, struct err *err);

/* Refuses a section's limit that is above every ceiling.  Call it after reading the whole file. */
int config_check_allowances(const struct config *config, struct err *err);

void config_print_allowances(const struct config *config, FILE *out);

/* ---- config_alerts.c ------------------------------------------------------------------------ */

extern const struct number_table config_alert_numbers; /* in struct alert_rule */

int config_take_alerts(struct config *config, const struct config_item *whole, struct err *err);
