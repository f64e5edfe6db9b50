/*
 * Locals that own memory or a descriptor: released at the end of their block, or taken.  cleanup.h
 * says how.
 */
#pragma once

#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free(void *held)
{
	free(*(void **)held);
}

static inline void cleanup_fd(const int *held)
{
	if (*held >= 0)
		close(*held);
}

#define auto_free __attribute__((cleanup(cleanup_free)))
#define auto_fd   __attribute__((cleanup(cleanup_fd)))

#define take_ptr(pointer)                               \
	({                                              \
		__typeof__(pointer) taken_ = (pointer); \
		(pointer) = NULL;                       \
		taken_;                                 \
	})

static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}
