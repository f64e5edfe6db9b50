/*
 * ULIDs: ids for runs that sort by time.  A ULID has 48 bits of milliseconds and 80 bits of
 * randomness, written as 26 characters of Crockford's base 32.
 *
 * One source belongs to one thread.  Its ids strictly increase, even within a millisecond and when
 * the clock is set back.  In those cases the source adds one to the last id.  When the lowest
 * ULID_RISING_BITS are all set, it moves to the next millisecond instead.  So the time together
 * with those bits strictly increases, too.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"

#define ULID_LEN        26
#define ULID_RANDOM_LEN 10

/* The lowest bits, which never wrap around within a millisecond: four characters. */
#define ULID_RISING_BITS 20

struct ulid_source {
	uint64_t last_ms; /* of the last id; the struct starts out as zeroes */
	uint8_t random[ULID_RANDOM_LEN];
};

/* Makes the next id for the current time.  Fails when the kernel has no randomness. */
int ulid_next(struct ulid_source *source, char ret_text[ULID_LEN + 1], struct err *err);

/* As ulid_next(), for a time that the caller passes: milliseconds since 1970. */
int ulid_next_at(
	struct ulid_source *source, uint64_t now_ms, char ret_text[ULID_LEN + 1], struct err *err);

/* Makes the source return only ids of later milliseconds than that of `id`, which must be valid. */
void ulid_pass(struct ulid_source *source, const char *id);

/* Whether two valid ids have the same time and the same lowest ULID_RISING_BITS. */
bool ulid_same_place(const char *a, const char *b);

/* Whether the text is 26 characters of the alphabet, in capitals, and fits 128 bits. */
bool ulid_is_valid(const char *text);

/* Returns the milliseconds of a valid id. */
uint64_t ulid_time_ms(const char *text);
