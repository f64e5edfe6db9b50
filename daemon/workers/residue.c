#include "daemon/workers/residue.h"

#include <stdlib.h>
#include <unistd.h>

/* The thread has its own descriptor, because the slot may be closed meanwhile. */
struct errand {
	struct residue *residue;
	int fd;
	uint64_t bytes;
};

static void empty(void *context)
{
	const struct errand *errand = context;

	knobs_empty(errand->fd, errand->bytes);
}

static void on_emptied(void *context)
{
	struct errand *errand = context;
	struct residue *residue = errand->residue;
	struct worker *worker = residue->worker;

	close(errand->fd);
	free(errand);
	residue->busy = false;
	residue->worker = NULL;
	residue->on_done(residue->context, worker);
}

static bool start(struct residue *residue, const struct worker *worker, uint64_t bytes)
{
	struct errand *errand = calloc(1, sizeof(*errand));

	if (!errand)
		return false;
	*errand = (struct errand){ residue, knobs_emptier(&worker->knobs), bytes };
	if (errand->fd >= 0 && work_start(residue->loop, empty, on_emptied, errand) == 0)
		return true;
	if (errand->fd >= 0)
		close(errand->fd);
	free(errand);
	return false;
}

bool residue_take_back(struct residue *residue, struct worker *worker)
{
	uint64_t bytes = knobs_memory_now(&worker->knobs);

	if (bytes <= RESIDUE_MOST)
		return false;
	if (residue->busy)
		return true;
	residue->busy = start(residue, worker, bytes);
	residue->worker = residue->busy ? worker : NULL;
	return residue->busy;
}

void residue_forget(struct residue *residue, const struct worker *worker)
{
	if (residue->worker == worker)
		residue->worker = NULL;
}
