/*
 * Memory for one request, given back in one piece.
 *
 * An arena grows in chunks up to a ceiling that its owner names; past it arena_alloc() returns
 * NULL.  Nothing is freed singly.  Memory is zeroed and aligned for any type.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/cleanup.h"

struct arena_chunk;

struct arena {
	struct arena_chunk *chunks;
	size_t used;    /* bytes handed out, headers included */
	size_t ceiling; /* `used` never passes it */
	bool failed;    /* something was refused since arena_init() */
};

void arena_init(struct arena *arena, size_t ceiling);

/* Gives everything back.  May be called twice; the arena can be used again afterwards. */
void arena_done(struct arena *arena);

/* Zeroed memory, or NULL past the ceiling.  A size of 0 gives a valid pointer. */
void *arena_alloc(struct arena *arena, size_t size) __attribute__((malloc, alloc_size(2)));

/* count * size with overflow refused. */
void *arena_calloc(struct arena *arena, size_t count, size_t size);

/* A copy of `len` bytes with a NUL behind them, or NULL. */
char *arena_copy(struct arena *arena, const void *bytes, size_t len);

char *arena_strdup(struct arena *arena, const char *text);

char *arena_printf(struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#define arena_new(arena, type)          ((type *)arena_alloc((arena), sizeof(type)))
#define arena_array(arena, type, count) ((type *)arena_calloc((arena), (count), sizeof(type)))
