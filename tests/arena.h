/* An arena that is freed at the end of the block in which it is declared. */

#ifndef CED_TESTS_ARENA_H
#define CED_TESTS_ARENA_H

#include "proto/base/arena.h"
#include "proto/base/cleanup.h"

AUTO_DEFINE(struct arena, arena_done);

#define WITH_ARENA(name)                                         \
	struct arena name##_itself;                              \
	auto_of(arena_done) struct arena *name = &name##_itself; \
	arena_init(name, (size_t)64 << 20)

#endif
