/*
 * Settings as rows of tables.  A row says how a setting is written, which values it may have and
 * where its value is stored.
 *
 * setting_check() checks a whole file against the tables: names, types, ranges, and that nothing is
 * written twice.  setting_take() then stores the values.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/settings/config.h"
#include "daemon/settings/config_text.h"
#include "proto/base/err.h"

enum setting_type {
	SETTING_NUMBER,  /* a uint64_t */
	SETTING_TEXT,    /* an array of char */
	SETTING_CHOICE,  /* an enum: the index of one of `words` */
	SETTING_BOOL,    /* a bool */
	SETTING_LIST,    /* stored by `take` */
	SETTING_SECTION, /* a section without a name */
	SETTING_NAMED,   /* sections with a name, stored by `take` */
	SETTING_TYPES
};

/* When a new value comes into force.  A row that says nothing needs a restart. */
enum setting_change {
	CHANGE_RESTART,
	CHANGE_RELOAD,
};

struct setting {
	const char *name;
	enum setting_type type;
	size_t offset, size; /* in the struct that its section fills, if there is no `take` */
	uint64_t otherwise, lowest, highest; /* of a number */
	const char *text;                    /* of a text: the default */
	const char *const *words; /* of a text or a choice: what it may be; ends with NULL */
	const char *meaning;
	enum setting_change change;
	const struct setting *section; /* rows of the section */
	int (*take)(void *set, const struct setting *row, const struct config_item *item,
		struct err *err);
};

/* Every table ends with an empty row. */
#define SETTING_EACH(row, table)             \
	const struct setting *row = (table); \
	row->name;                           \
	row++

/* Rows of a number and of a text that are fields of `struct of`. */
#define SETTING_NUMBER_OF(of, field, ...)                                         \
	{                                                                         \
		.name = #field, .offset = offsetof(struct of, field), __VA_ARGS__ \
	}
#define SETTING_TEXT_OF(of, field, ...)                                                     \
	{                                                                                   \
		.name = #field, .type = SETTING_TEXT, .offset = offsetof(struct of, field), \
		.size = sizeof(((struct of *)NULL)->field), __VA_ARGS__                     \
	}

/* Faults of a configuration, in the order in which they were found. */
#define SETTING_FAULTS_MAX 16

struct setting_faults {
	struct err items[SETTING_FAULTS_MAX];
	unsigned count;
};

/* Adds a fault; one that finds no room is dropped, since there are plenty to correct.  -1. */
int setting_faults_add(struct setting_faults *faults, const struct err *err);

/*
 * Checks the items of a section, and goes on after a fault.  `top` is the table of settings outside
 * all sections.  -1: it added faults.
 */
int setting_check(struct config_item *section, const struct setting *table,
	const struct setting *top, struct setting_faults *faults);

/* Stores the values of a section that was checked.  Settings that it lacks stay as they are. */
int setting_take(
	void *set, const struct config_item *section, const struct setting *table, struct err *err);

/* The same, and goes on after an item with a fault. */
int setting_take_all(void *set, const struct config_item *section, const struct setting *table,
	struct setting_faults *faults);

/* Stores the default of each number and text. */
void setting_defaults(void *set, const struct setting *table);

uint64_t setting_number(const void *set, const struct setting *row);

/* Refuses a number outside its range, other than CONFIG_LIMIT_UNSET. */
int setting_check_numbers(const void *set, const struct setting *table, struct err *err);

/* ---- helpers of `take` ----------------------------------------------------------------------- */

/* Copies a text.  Refuses one that does not fit. */
int setting_copy(char *text, size_t size, const struct config_item *item, const char *given,
	struct err *err);

/* Copies a list into an array of texts of `size` bytes, from *count on. */
int setting_copy_list(char *texts, size_t size, unsigned *count, unsigned most,
	const struct config_item *item, struct err *err);

/* ---- errors ---------------------------------------------------------------------------------- */

/* Fills *err with "line N: " and the text.  Returns -1. */
int setting_fault(struct err *err, unsigned line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Stores what was written for each setting, and where, for setting_refuse() and reports. */
void setting_note_written(
	struct config *config, const struct config_item *whole, const struct setting *table);

/* Returns what was written for the setting; NULL: no file has it. */
const struct config_written *setting_written(const struct config *config, const char *key);

/*
 * Fills *err with the error in the value of `key`, and with the file and line that has it, if one
 * has.  Returns -1.
 */
int setting_refuse(const struct config *config, struct err *err, const char *key,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
