#include "daemon/loop/discard.h"

#include <stdlib.h>

#include "daemon/loop/loop.h"

#define DISCARD_AT_ONCE ((size_t)4 << 20) /* takes about 1 ms */

struct discarded {
	struct arena arena;
	char *bytes;
};

static void on_thread(void *context)
{
	struct discarded *discarded = context;

	arena_done(&discarded->arena);
	free(discarded->bytes);
}

void discard(uv_loop_t *loop, struct arena *arena, char *bytes)
{
	struct discarded *discarded =
		loop && arena->used > DISCARD_AT_ONCE ? calloc(1, sizeof(*discarded)) : NULL;

	if (discarded) {
		*discarded = (struct discarded){ *arena, bytes };
		if (work_start(loop, on_thread, free, discarded) == 0) {
			arena_init(arena, arena->ceiling);
			return;
		}
		free(discarded);
	}
	arena_done(arena);
	free(bytes);
}
