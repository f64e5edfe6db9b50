/*
 * Reads the configuration: defaults from config_table.h, then a file, then the command line.
 * config_text.h describes the file's syntax.
 *
 * The reader refuses an unknown setting, a wrong type, a number outside its range and a setting
 * that is written twice.  The error names the file and line and says what to write instead.
 */
#pragma once

#include <stdio.h>

#include "daemon/settings/config.h"
#include "proto/base/err.h"

/* Fills in the defaults, with python as the only runtime. */
void config_init(struct config *config);

/* Reads a file, which overrides the settings that it names. */
int config_load(struct config *config, const char *path, struct err *err);

/* The same from memory, for tests and the fuzzer. */
int config_parse(struct config *config, const char *text, struct err *err);

/* Prints every setting with its default, range and meaning. */
void config_print_settings(FILE *out);

/* Prints the settings in force, one "name=value" per line.  `cectl doctor` reads this. */
void config_print_in_force(const struct config *config, FILE *out);
