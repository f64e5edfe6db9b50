#include "daemon/workers/reclaim.h"

#include <stdlib.h>
#include <unistd.h>

/* The thread has its own descriptor, because the slot may be closed meanwhile. */
struct reclaiming {
	struct reclaim *reclaim;
	int fd;
	uint64_t bytes;
};

static void empty(void *context)
{
	const struct reclaiming *reclaiming = context;

	knobs_empty(reclaiming->fd, reclaiming->bytes);
}

static void on_emptied(void *context)
{
	struct reclaiming *reclaiming = context;
	struct reclaim *reclaim = reclaiming->reclaim;
	struct worker *worker = reclaim->worker;

	close(reclaiming->fd);
	free(reclaiming);
	reclaim->busy = false;
	reclaim->worker = NULL;
	reclaim->on_done(reclaim->context, worker);
}

static bool start(struct reclaim *reclaim, const struct worker *worker, uint64_t bytes)
{
	struct reclaiming *reclaiming = calloc(1, sizeof(*reclaiming));

	if (!reclaiming)
		return false;
	*reclaiming = (struct reclaiming){ reclaim, knobs_emptier(&worker->knobs), bytes };
	if (reclaiming->fd >= 0 && work_start(reclaim->loop, empty, on_emptied, reclaiming) == 0)
		return true;
	if (reclaiming->fd >= 0)
		close(reclaiming->fd);
	free(reclaiming);
	return false;
}

bool reclaim_start(struct reclaim *reclaim, struct worker *worker)
{
	uint64_t bytes = knobs_memory_now(&worker->knobs);

	if (bytes <= RECLAIM_ABOVE)
		return false;
	if (reclaim->busy)
		return true;
	reclaim->busy = start(reclaim, worker, bytes);
	reclaim->worker = reclaim->busy ? worker : NULL;
	return reclaim->busy;
}

void reclaim_forget(struct reclaim *reclaim, const struct worker *worker)
{
	if (reclaim->worker == worker)
		reclaim->worker = NULL;
}
