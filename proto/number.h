/*
 * Numbers as JSON means them: integers of 64 bits and doubles on one line, compared exactly.
 * 9007199254740993 is not 9007199254740992.0, and 0.0075 is a multiple of 0.0001.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/value.h"

#define NUMBER_TEXT_MAX 32

/* An integer or a finite real. */
bool number_is(const struct value *value);

/* A number without a fraction: 3 and 3.0. */
bool number_is_integer(const struct value *value);

/* -1, 0 or 1.  Both are numbers. */
int number_compare(const struct value *a, const struct value *b);

/* Whether `value` divides by `step` without a rest, both read as the decimals people write. */
bool number_is_multiple(const struct value *value, const struct value *step);

/* The number as an unsigned integer; -1 when it is none, negative, or above 64 bits. */
int number_as_u64(const struct value *value, uint64_t *ret_number);

/*
 * The shortest text that reads back as the same double.  It always shows that it is a real:
 * 3.0, 1e+22.  `real` is finite.  Returns the length.
 */
size_t number_write_real(double real, char ret_text[NUMBER_TEXT_MAX]);
