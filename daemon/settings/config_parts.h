/* What the files that read the configuration share. */
#pragma once

#include "daemon/settings/config.h"
#include "daemon/settings/config_text.h"
#include "proto/base/container.h"
#include "proto/base/err.h"

/* A text that must fit. */
int config_take_text(char *text, size_t size, const struct config_item *item, const char *given,
	struct err *err);

/* ---- config_keys.c -------------------------------------------------------------------------- */

/*
 * Holds every item against the settings that there are: its name, type, value's range, and that it
 * stands there once.  Reads numbers and words for true and false into `number`.
 */
int config_check_items(struct config_item *whole, struct err *err);

/* The item of this name, or NULL. */
const struct config_item *config_find(const struct config_item *section, const char *name);

/* The next item of this name behind that one, the first one when it is NULL; or NULL. */
const struct config_item *config_next(
	const struct config_item *within, const struct config_item *behind, const char *name);

/* Fills *err with "line N: " and what is wrong with this item.  Returns -1. */
int config_fault(struct err *err, const struct config_item *item, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Keeps the line of each setting for config_refuse(). */
void config_note_lines(struct config *config, const struct config_item *whole);

/*
 * Fills *err with the file and line in which `key` was written, where it was, and what is wrong with
 * its value.  Returns -1.
 */
int config_refuse(const struct config *config, struct err *err, const char *key, const char *format,
	...) __attribute__((format(printf, 4, 5)));

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

/* The row of this name, or NULL. */
const struct number_rule *number_rule_named(const struct number_table *table, const char *name);

/* Digits, and a unit that suits the name: a time for ..._ms, ..._s, ..._days, a size for ..._bytes. */
int config_read_number(const char *name, const char *text, uint64_t *ret_number);

/* The same for an item, whose `number` it becomes, within the bounds of its row. */
int config_read_item(struct config_item *item, const struct number_rule *rule, struct err *err);

/* As people write it: 16777216 of a size is "16mb". */
void config_number_text(char *text, size_t size, const char *name, uint64_t number);

uint64_t config_number(const void *set, const struct number_rule *rule);

void config_default_numbers(void *set, const struct number_table *table);

/* What is not written stays as it is.  How many were written. */
unsigned config_take_numbers(
	void *set, const struct config_item *section, const struct number_table *table);

/* No limit that is set is above the most of its kind.  `prefix` names the section that has both. */
int config_check_limits(const struct config *config, const char *prefix,
	const struct job_limits *some, const struct job_limits *most_of_them, struct err *err);

/* ---- config_runtime.c ----------------------------------------------------------------------- */

int config_take_runtimes(struct config *config, const struct config_item *whole, struct err *err);

/* Drops those that are off, fills in what was left to all, and checks what belongs together. */
int config_finish_runtimes(struct config *config, struct err *err);

/* ---- config_allowance.c --------------------------------------------------------------------- */

void config_default_budgets(struct budget_limits budgets[BUDGET_SCOPE_COUNT]);

/* What is not written stays as it is.  How many were written. */
unsigned config_take_budgets(
	struct budget_limits budgets[BUDGET_SCOPE_COUNT], const struct config_item *section);

int config_take_allowances(struct config *config, const struct config_item *whole, struct err *err);

/* No user and no group has two sections, one by number and one by name. */
int config_check_twice(const struct config *config, struct err *err);

/* No section's limit is above every ceiling that there is; after the whole file was read. */
int config_check_allowances(const struct config *config, struct err *err);

void config_print_allowances(const struct config *config, FILE *out);

/* ---- config_alerts.c ------------------------------------------------------------------------ */

extern const struct number_table config_alert_numbers; /* of struct alert_rule */

int config_take_alerts(struct config *config, const struct config_item *whole, struct err *err);
