#include "proto/base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/*
 * Allocations fill the chunk at the head of the list.  A piece that would waste too much of a chunk
 * gets its own chunk, which is inserted after the head.  So the rest of the head stays in use.
 */
struct arena_chunk {
	struct arena_chunk *next;
	size_t size; /* of bytes[] */
	size_t used;
	alignas(max_align_t) char bytes[];
};

/*
 * Under the address sanitizer every piece is its own allocation, so that it detects an access
 * outside.
 */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EACH_PIECE_ALONE 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define EACH_PIECE_ALONE 1
#endif

#define CHUNK_BYTES_MIN ((size_t)8 << 10)
#define CHUNK_BYTES_MAX ((size_t)256 << 10)

#ifdef EACH_PIECE_ALONE
#define PIECE_ALIGN ((size_t)1)
#else
#define PIECE_ALIGN alignof(max_align_t)
#endif

void arena_init(struct arena *arena, size_t ceiling)
{
	*arena = (struct arena){ .ceiling = ceiling };
}

void arena_done(struct arena *arena)
{
	struct arena_chunk *chunk = arena->chunks;

	while (chunk) {
		struct arena_chunk *next = chunk->next;

		free(chunk);
		chunk = next;
	}
	arena_init(arena, arena->ceiling);
}

/* Each chunk is twice as large as the one before, within CHUNK_BYTES_MAX and the ceiling. */
static size_t next_chunk_bytes(const struct arena *arena)
{
#ifdef EACH_PIECE_ALONE
	(void)arena;
	return 0;
#else
	size_t size = arena->chunks ? arena->chunks->size * 2 : CHUNK_BYTES_MIN;
	size_t left = arena->ceiling - arena->used;

	if (size > CHUNK_BYTES_MAX)
		size = CHUNK_BYTES_MAX;
	if (size < CHUNK_BYTES_MIN)
		size = CHUNK_BYTES_MIN;
	return size < left ? size : left;
#endif
}

/* Adds a chunk that holds at least `size` bytes.  The caller has checked the ceiling. */
static struct arena_chunk *add_chunk(struct arena *arena, size_t size)
{
	size_t shared = next_chunk_bytes(arena);
	bool own = size > shared / 4;
	struct arena_chunk *chunk;

	if (!own)
		size = shared;
	chunk = malloc(sizeof(*chunk) + size);
	if (!chunk)
		return NULL;

	chunk->size = size;
	chunk->used = 0;
	arena->used += sizeof(*chunk);
	if (own && arena->chunks) {
		chunk->next = arena->chunks->next;
		arena->chunks->next = chunk;
	} else {
		chunk->next = arena->chunks;
		arena->chunks = chunk;
	}
	return chunk;
}

static void *refuse(struct arena *arena)
{
	arena->failed = true;
	return NULL;
}

/* As arena_alloc(), but the memory is not initialized. */
static void *take_room(struct arena *arena, size_t size)
{
	struct arena_chunk *chunk = arena->chunks;
	size_t left = arena->ceiling - arena->used;
	void *room;

	if (size > left)
		return refuse(arena);
	size = (size + PIECE_ALIGN - 1) & ~(PIECE_ALIGN - 1);
	if (size == 0 || size > left)
		return refuse(arena);

	if (!chunk || chunk->size - chunk->used < size) {
		if (left - size < sizeof(*chunk))
			return refuse(arena);
		chunk = add_chunk(arena, size);
		if (!chunk)
			return refuse(arena);
	}

	room = chunk->bytes + chunk->used;
	chunk->used += size;
	arena->used += size;
	return room;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	void *room = take_room(arena, size > 0 ? size : 1);

	return room ? memset(room, 0, size) : NULL;
}

void *arena_calloc(struct arena *arena, size_t count, size_t size)
{
	size_t whole;

	if (__builtin_mul_overflow(count, size, &whole))
		return refuse(arena);
	return arena_alloc(arena, whole);
}

char *arena_copy(struct arena *arena, const void *bytes, size_t len)
{
	char *copy;

	if (len == SIZE_MAX)
		return refuse(arena);
	copy = take_room(arena, len + 1);
	if (!copy)
		return NULL;

	if (len > 0)
		memcpy(copy, bytes, len);
	copy[len] = '\0';
	return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
	return arena_copy(arena, text, strlen(text));
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args;
	va_list again;
	char *text = NULL;
	int len;

	va_start(args, format);
	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, args);
	if (len >= 0)
		text = take_room(arena, (size_t)len + 1);
	if (text)
		(void)vsnprintf(text, (size_t)len + 1, format, again);
	va_end(again);
	va_end(args);
	return text ? text : refuse(arena);
}
