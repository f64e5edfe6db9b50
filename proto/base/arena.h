/*
 * Memory for one request, freed all at once.
 *
 * An arena grows in chunks up to a ceiling that its owner sets.  Past the ceiling arena_alloc()
 * returns NULL.  A single allocation cannot be freed.  Memory is zeroed and aligned for any type.
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
	bool failed;    /* an allocation has failed since arena_init() */
};

void arena_init(struct arena *arena, size_t ceiling);

/* Frees all memory.  A second call is harmless, and the arena can be used again afterwards. */
void arena_done(struct arena *arena);

/* Returns zeroed memory, or NULL past the ceiling.  For a size of 0 it returns a valid pointer. */
void *arena_alloc(struct arena *arena, size_t size) __attribute__((malloc, alloc_size(2)));

/* Allocates count * size bytes.  NULL when the product overflows. */
void *arena_calloc(struct arena *arena, size_t count, size_t size);

/* Copies `len` bytes and adds a NUL.  NULL past the ceiling. */
char *arena_copy(struct arena *arena, const void *bytes, size_t len);

char *arena_strdup(struct arena *arena, const char *text);

char *arena_printf(struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#define arena_new(arena, type)          ((type *)arena_alloc((arena), sizeof(type)))
#define arena_array(arena, type, count) ((type *)arena_calloc((arena), (count), sizeof(type)))
