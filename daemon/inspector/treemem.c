#include "daemon/inspector/treemem.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <tree_sitter/api.h>

#define STEP        16U
#define SIZES       64U /* of pieces: STEP, 2 * STEP, ... with their heads */
#define BLOCK_BYTES ((size_t)1 << 20)
#define OUTSIDE     UINT32_MAX

/* gcc says it in one way, clang in another. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WATCHED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WATCHED 1
#endif
#ifndef WATCHED
#define WATCHED 0
#endif

/* In front of what is given; a piece from malloc() has room in front of its head, to keep it even. */
struct head {
	uint32_t steps; /* how large it is, or OUTSIDE */
	uint32_t unused;
};

struct dropped {
	struct dropped *next;
};

struct block {
	struct block *next;
	size_t used;
	_Alignas(STEP) char bytes[BLOCK_BYTES];
};

static struct {
	bool on;
	struct block *blocks; /* the newest first; the oldest is kept */
	struct dropped *dropped[SIZES + 1];
} memory;

static struct head *head_of(void *piece)
{
	return (struct head *)((char *)piece - sizeof(struct head));
}

static void *outside_start(void *piece)
{
	return (char *)piece - STEP;
}

/* As tree-sitter's own: there is no way to go on without. */
static void *or_abort(void *memory_or_null)
{
	if (!memory_or_null)
		abort();
	return memory_or_null;
}

static void *mark(char *start, size_t front, uint32_t steps)
{
	void *piece = start + front;

	*head_of(piece) = (struct head){ .steps = steps };
	return piece;
}

static void *take_outside(size_t size)
{
	return mark(or_abort(malloc(size + STEP)), STEP, OUTSIDE);
}

static void add_block(void)
{
	struct block *block = or_abort(malloc(sizeof(*block)));

	block->next = memory.blocks;
	block->used = 0;
	memory.blocks = block;
}

static void *take_fresh(uint32_t steps)
{
	size_t size = (size_t)steps * STEP;
	char *start;

	if (!memory.blocks || BLOCK_BYTES - memory.blocks->used < size)
		add_block();
	start = memory.blocks->bytes + memory.blocks->used;
	memory.blocks->used += size;
	return mark(start, sizeof(struct head), steps);
}

static void *take(size_t size)
{
	size_t steps = (size + sizeof(struct head) + STEP - 1) / STEP;
	struct dropped *dropped;

	if (!memory.on || steps > SIZES)
		return take_outside(size);
	dropped = memory.dropped[steps];
	if (!dropped)
		return take_fresh((uint32_t)steps);
	memory.dropped[steps] = dropped->next;
	return dropped;
}

static void drop(void *piece)
{
	struct dropped *dropped = piece;
	uint32_t steps;

	if (!piece)
		return;
	steps = head_of(piece)->steps;
	if (steps == OUTSIDE) {
		free(outside_start(piece));
		return;
	}
	dropped->next = memory.dropped[steps];
	memory.dropped[steps] = dropped;
}

static void *take_zeroed(size_t count, size_t size)
{
	size_t bytes;
	void *piece;

	if (__builtin_mul_overflow(count, size, &bytes))
		abort();
	piece = take(bytes);
	memset(piece, 0, bytes);
	return piece;
}

static void *change(void *piece, size_t size)
{
	uint32_t steps = piece ? head_of(piece)->steps : 0;
	size_t room = steps * (size_t)STEP - sizeof(struct head);
	void *larger;

	if (!piece)
		return take(size);
	if (steps == OUTSIDE)
		return mark(or_abort(realloc(outside_start(piece), size + STEP)), STEP, OUTSIDE);
	if (size <= room)
		return piece;
	larger = take(size);
	memcpy(larger, piece, room);
	drop(piece);
	return larger;
}

void treemem_install(void)
{
	if (!WATCHED)
		ts_set_allocator(take, take_zeroed, change, drop);
}

void treemem_begin(void)
{
	assert(!memory.on);
	memory.on = true;
}

void treemem_end(void)
{
	memory.on = false;
	memset(memory.dropped, 0, sizeof(memory.dropped));
	while (memory.blocks && memory.blocks->next) {
		struct block *block = memory.blocks;

		memory.blocks = block->next;
		free(block);
	}
	if (memory.blocks)
		memory.blocks->used = 0;
}
