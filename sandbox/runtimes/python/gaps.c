#include "sandbox/runtimes/python/gaps.h"

#include <Python.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * CPython's allocator: Objects/obmalloc.c.  Larger blocks are the C library's.  A pool's head begins
 * with the number of its blocks in use, as an unsigned int.
 */
#define SMALL_MOST       512
#define SMALL_STEP       16
#define POOL_HEAD        48
#define POOL_BYTES       16384
#define POOL_BYTES_OLD   4096
#define VERSION_OF_POOLS 0x030a0000

#define LARGE_MOST 65536 /* a block that is not mapped alone */
#define LARGE_STEP 16
#define LARGE_HEAD 8

/* Nobody has more gaps that matter; and pools may not be as above. */
#define SMALL_BYTES_MOST ((size_t)1 << 20)
#define LARGE_BYTES_MOST ((size_t)8 << 20)

/* Whether the block is the only one of its pool. */
static bool begins_pool(const char *block, uintptr_t pool)
{
	unsigned in_use;

	if ((uintptr_t)block % pool != POOL_HEAD)
		return false;
	memcpy(&in_use, block - POOL_HEAD, sizeof(in_use));
	return in_use == 1;
}

/* Takes blocks until one begins a new pool.  Then the others are full. */
static void fill_pools(size_t size, uintptr_t pool, size_t *left)
{
	while (*left >= size) {
		char *block = PyObject_Malloc(size);

		if (!block)
			return;
		if (begins_pool(block, pool)) {
			PyObject_Free(block);
			return;
		}
		*left -= size;
	}
}

/* mallinfo2() is glibc's, since 2.33.  Elsewhere the gaps between larger blocks stay. */
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)

/* Takes blocks until one is cut from the heap's end.  Then no gap below is large enough. */
static void fill_below(uintptr_t end, size_t size, size_t *left)
{
	while (*left >= size) {
		char *block = malloc(size);

		if (!block)
			return;
		if ((uintptr_t)block >= end) {
			free(block);
			return;
		}
		*left -= size;
	}
}

static void fill_heap(void)
{
	const uintptr_t end = (uintptr_t)sbrk(0) - mallinfo2().keepcost;
	size_t left = LARGE_BYTES_MOST;

	for (size_t size = LARGE_MOST; size > LARGE_STEP; size -= LARGE_STEP)
		fill_below(end, size - LARGE_HEAD, &left);
}

#else

static void fill_heap(void)
{
}

#endif

void gaps_fill(long hexversion)
{
	const uintptr_t pool = hexversion >= VERSION_OF_POOLS ? POOL_BYTES : POOL_BYTES_OLD;
	size_t left = SMALL_BYTES_MOST;

	for (size_t size = SMALL_MOST; size > 0; size -= SMALL_STEP)
		fill_pools(size, pool, &left);
	fill_heap();
}
