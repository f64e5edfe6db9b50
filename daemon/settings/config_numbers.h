/*
 * How numbers are written in a configuration.  The end of a setting's name says what its number is:
 * a time for ..._ms, ..._s and ..._days, a size for ..._bytes, else a plain number.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads digits with a unit that fits the name. */
int config_number_read(const char *name, const char *text, uint64_t *ret_number);

/* Whether the text must have a unit and has none. */
bool config_number_lacks_unit(const char *name, const char *text);

/* Describes for a message how the number is written. */
const char *config_number_form(const char *name);

/* Writes a number with its unit: 16777216 of a size is "16mb". */
void config_number_text(char *text, size_t size, const char *name, uint64_t number);
