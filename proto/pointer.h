/*
 * JSON Pointers (RFC 6901) for messages.  A place is a chain from an inner value outwards.  The
 * functions that walk a value usually keep it on their stack.  It becomes text only when there is
 * an error to report.
 */
#pragma once

#include <stddef.h>

#include "proto/base/arena.h"

/*
 * Longer keys are truncated and marked with "...".  Pointers are for people to read, not for
 * storage.
 */
#define POINTER_KEY_MAX 128

struct place {
	const struct place *up; /* NULL: below the root */
	const char *key;        /* a key of a map; NULL: an item of a list */
	size_t key_len;
	size_t index;
};

static inline struct place place_key(const struct place *up, const char *key, size_t key_len)
{
	return (struct place){ up, key, key_len, 0 };
}

static inline struct place place_item(const struct place *up, size_t index)
{
	return (struct place){ up, NULL, 0, index };
}

/*
 * Returns text such as "/files/3/path"; "" for a NULL place, the root.  NULL when the arena is
 * full.
 */
const char *place_text(struct arena *arena, const struct place *place);
