#include "daemon/workers/reclaim.h"

#include <stdlib.h>

#include "proto/base/fdio.h"

/* The thread has descriptors of its own, because the slot may be closed meanwhile. */
struct reclaiming {
	struct reclaim *reclaim;
	int fds[PRIV_LEAVES_MAX];
	uint64_t bytes[PRIV_LEAVES_MAX];
	unsigned count;
};

static void empty(void *context)
{
	const struct reclaiming *reclaiming = context;

	for (unsigned i = 0; i < reclaiming->count; i++)
		knobs_empty(reclaiming->fds[i], reclaiming->bytes[i]);
}

static void release(struct reclaiming *reclaiming)
{
	close_fds(reclaiming->fds, reclaiming->count);
	free(reclaiming);
}

static void on_emptied(void *context)
{
	struct reclaiming *reclaiming = context;
	struct reclaim *reclaim = reclaiming->reclaim;
	struct worker *worker = reclaim->worker;

	release(reclaiming);
	reclaim->busy = false;
	reclaim->worker = NULL;
	reclaim->on_done(reclaim->context, worker);
}

static void add(struct reclaiming *reclaiming, const struct knobs *leaf, uint64_t may_stay)
{
	const uint64_t bytes = knobs_memory_now(leaf);
	const int fd = bytes > may_stay ? knobs_emptier(leaf) : -1;

	if (fd < 0)
		return;
	reclaiming->fds[reclaiming->count] = fd;
	reclaiming->bytes[reclaiming->count++] = bytes;
}

/* NULL: little is left, or there is no memory or knob to reclaim it. */
static struct reclaiming *collect(struct reclaim *reclaim, const struct worker *worker)
{
	struct reclaiming *reclaiming = calloc(1, sizeof(*reclaiming));

	if (!reclaiming)
		return NULL;
	reclaiming->reclaim = reclaim;
	add(reclaiming, &worker->knobs, RECLAIM_ABOVE);
	for (unsigned i = 0; i < worker->leaf_count; i++)
		add(reclaiming, &worker->leaves[i], RECLAIM_LEAF_ABOVE);
	if (reclaiming->count)
		return reclaiming;
	free(reclaiming);
	return NULL;
}

bool reclaim_start(struct reclaim *reclaim, struct worker *worker)
{
	struct reclaiming *reclaiming = collect(reclaim, worker);

	if (!reclaiming)
		return false;
	if (reclaim->busy) {
		release(reclaiming);
		return true;
	}
	reclaim->busy = work_start(reclaim->loop, empty, on_emptied, reclaiming) == 0;
	reclaim->worker = reclaim->busy ? worker : NULL;
	if (!reclaim->busy)
		release(reclaiming);
	return reclaim->busy;
}

void reclaim_forget(struct reclaim *reclaim, const struct worker *worker)
{
	if (reclaim->worker == worker)
		reclaim->worker = NULL;
}
