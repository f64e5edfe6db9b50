/*
 * Reads the configuration: defaults from config_table.h, then a file, then the files of its folder
 * FILE.d whose names end with .conf, in the order of their names, then the command line.
 * config_text.h describes the syntax.
 *
 * The reader refuses an unknown setting, a wrong type, a number outside its range and a setting
 * that is written twice in one file.  A later file replaces the settings of an earlier one.  The
 * error names the file and line and says what to write instead.
 */
#pragma once

#include <stdio.h>

#include "daemon/settings/config.h"
#include "daemon/settings/setting.h"
#include "proto/base/err.h"

/* The settings outside all sections, and the sections. */
extern const struct setting config_settings[];

/* Fills in the defaults, with python as the only runtime. */
void config_init(struct config *config);

/* Reads a file and its folder, which override the settings that they name. */
int config_load(struct config *config, const char *path, struct err *err);

/* The same with all faults that it finds, not only the first. */
int config_load_all(struct config *config, const char *path, struct setting_faults *faults);

/* Where a daemon's settings come from. */
struct config_sources {
	const char *path;   /* of the file; NULL: none */
	const char *socket; /* of the command line, or NULL */
	const char *state;
	bool shipped; /* the runtimes beside python that the host has */
};

/* Reads all of them and calls config_finish(). */
int config_read(struct config *config, const struct config_sources *sources, struct err *err);

/* The same with all faults that it finds. */
int config_read_all(
	struct config *config, const struct config_sources *sources, struct setting_faults *faults);

/* The same from memory, for tests and the fuzzer. */
int config_parse(struct config *config, const char *text, struct err *err);

/* Prints every setting with its default, range and meaning. */
void config_print_settings(FILE *out);

/* Prints the settings in force, one "name=value" per line.  `cectl doctor` reads this. */
void config_print_in_force(const struct config *config, FILE *out);
