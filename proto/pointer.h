/*
 * JSON Pointers (RFC 6901) for messages.  A place is a chain from the inside out, usually on the
 * stack of whoever walks a value; it becomes text only when something is wrong there.
 */
#pragma once

#include <stddef.h>

#include "proto/base/arena.h"

/* Longer keys are cut and marked with "..."; a pointer is for people and for finding, not for storing. */
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

/* "/files/3/path"; "" for NULL, the root.  NULL when the arena is full. */
const char *place_text(struct arena *arena, const struct place *place);
