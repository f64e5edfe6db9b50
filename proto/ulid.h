/*
 * ULIDs: names for runs that sort by time.  48 bits of milliseconds, 80 bits of randomness, as 26
 * characters of Crockford's base 32.
 *
 * One source belongs to one thread.  Its ids are strictly increasing, also within a millisecond
 * and when the clock is set back: then the last id goes up by one, and when its lowest bits are
 * spent it is one of the next millisecond.  So what is made of the time and those bits rises, too.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"

#define ULID_LEN        26
#define ULID_RANDOM_LEN 10

/* The lowest bits, which never begin again within a millisecond: four characters. */
#define ULID_RISING_BITS 20

struct ulid_source {
	uint64_t last_ms; /* of the last id; the struct starts out as zeroes */
	uint8_t random[ULID_RANDOM_LEN];
};

/* The next id, for now.  Fails only when the kernel has no randomness. */
int ulid_next(struct ulid_source *source, char ret_text[ULID_LEN + 1], struct err *err);

/* The same for a clock of the caller's: milliseconds since 1970. */
int ulid_next_at(
	struct ulid_source *source, uint64_t now_ms, char ret_text[ULID_LEN + 1], struct err *err);

/* From here on the source gives ids of later milliseconds than that of `id`, which is valid. */
void ulid_pass(struct ulid_source *source, const char *id);

/* Whether two valid ids agree in the time and in the bits that rise within it. */
bool ulid_same_place(const char *a, const char *b);

/* 26 characters of the alphabet, in capitals, that make at most 128 bits. */
bool ulid_is_valid(const char *text);

/* The milliseconds in a valid id. */
uint64_t ulid_time_ms(const char *text);
