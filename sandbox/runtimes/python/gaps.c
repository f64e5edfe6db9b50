#include "sandbox/runtimes/python/gaps.h"

#include <Python.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* CPython's allocator: Objects/obmalloc.c.  Larger blocks are the C library's. */
#define SMALL_MOST       512
#define SMALL_STEP       16
#define POOL_HEAD        48
#define POOL_BYTES       16384
#define POOL_BYTES_OLD   4096
#define VERSION_OF_POOLS 0x030a0000

#define FILL_BYTES_MOST (256U << 10) /* for one size, if pools are not as above */

#define LARGE_MOST 65536 /* a block that is not mapped alone */
#define LARGE_STEP 16
#define LARGE_HEAD 8

/* Takes blocks until one begins a new pool.  Then the others are full. */
static void fill_pools(size_t size, uintptr_t pool)
{
	for (size_t taken = 0; taken < FILL_BYTES_MOST; taken += size) {
		void *block = PyObject_Malloc(size);

		if (!block)
			return;
		if ((uintptr_t)block % pool == POOL_HEAD) {
			PyObject_Free(block);
			return;
		}
	}
}

/* mallinfo2() is glibc's, since 2.33.  Elsewhere the gaps between larger blocks stay. */
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)

/* Takes blocks until one is cut from the heap's end.  Then no gap below is large enough. */
static void fill_below(uintptr_t end, size_t size)
{
	void *block = malloc(size);

	while (block && (uintptr_t)block < end)
		block = malloc(size);
	free(block);
}

static void fill_heap(void)
{
	const uintptr_t end = (uintptr_t)sbrk(0) - mallinfo2().keepcost;

	for (size_t size = LARGE_MOST; size > LARGE_STEP; size -= LARGE_STEP)
		fill_below(end, size - LARGE_HEAD);
}

#else

static void fill_heap(void)
{
}

#endif

void gaps_fill(long hexversion)
{
	const uintptr_t pool = hexversion >= VERSION_OF_POOLS ? POOL_BYTES : POOL_BYTES_OLD;

	for (size_t size = SMALL_MOST; size > 0; size -= SMALL_STEP)
		fill_pools(size, pool);
	fill_heap();
}
