#include "daemon/loop/trim.h"

#include <malloc.h>
#include <stdlib.h>

bool trim_is_due(uint64_t *peak, uint64_t held)
{
	if (*peak < held + TRIM_BYTES)
		return false;
	*peak = held;
	return true;
}

static void on_thread(void *context)
{
	(void)context;
	(void)malloc_trim(0);
}

void trim_start(uv_loop_t *loop)
{
	(void)work_start(loop, on_thread, free, NULL);
}
