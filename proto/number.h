/*
 * Numbers as JSON defines them: 64-bit integers and doubles are one ordered set, compared exactly.
 * 9007199254740993 is not 9007199254740992.0, and 0.0075 is a multiple of 0.0001.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/value.h"

#define NUMBER_TEXT_MAX 32

/* Whether the value is an integer or a finite real. */
bool number_is(const struct value *value);

/* Whether the value is a number without a fraction, such as 3 and 3.0. */
bool number_is_integer(const struct value *value);

/* Returns -1, 0 or 1.  Both values must be numbers. */
int number_compare(const struct value *a, const struct value *b);

/* Whether `value` is a multiple of `step`.  Both count as decimal numbers, as people write them. */
bool number_is_multiple(const struct value *value, const struct value *step);

/*
 * Reads the number as an unsigned integer.  -1: it is not an integer, negative, or above 64 bits.
 */
int number_as_u64(const struct value *value, uint64_t *ret_number);

/*
 * Writes the shortest text that reads back as the same double.  The text always shows that it is a
 * real: 3.0, 1e+22.  `real` must be finite.  Returns the length.
 */
size_t number_write_real(double real, char ret_text[NUMBER_TEXT_MAX]);
