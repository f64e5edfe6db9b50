/* Reports runs that were lost with the last daemon, once clients have subscribed again. */
#include <stdlib.h>
#include <unistd.h>

#include "daemon/loop/thread_work.h"
#include "daemon/news/alerts.h"
#include "daemon/record/readers.h"
#include "daemon/services.h"

#define BACK_MS    5000 /* the command runner connects again within two seconds */
#define LOST_MOST  200
#define LIST_BYTES ((size_t)4 << 20)

/* The search for lost runs, on a thread. */
struct looking {
	struct alerts *alerts;
	struct arena arena;
	struct value *page; /* NULL: the search failed */
};

static void look(void *context)
{
	struct looking *looking = context;
	struct readers *readers = looking->alerts->services->readers;
	const struct store_filter filter = {
		.all_callers = true, .outcome = outcome_word(OUTCOME_LOST), .limit = LOST_MOST
	};
	struct err err = ERR_INIT;
	struct store *store = readers_take(readers, &err);

	if (!store)
		return;
	if (store_list(store, &filter, &looking->arena, &looking->page, &err) < 0)
		looking->page = NULL;
	readers_give(readers, store);
}

/* Skips runs that an earlier daemon has reported as lost. */
static void looked(void *context)
{
	struct looking *looking = context;
	const struct services *services = looking->alerts->services;
	const struct value *runs = value_get(looking->page, "runs");

	for (size_t i = 0; !services->state->closing && value_at(runs, i); i++) {
		const struct value *run = value_at(runs, i);

		if (value_as_int(value_get(run, "ended_us"), 0) >= services->state->started_wall_us)
			alerts_run_lost(looking->alerts, run);
	}
	arena_done(&looking->arena);
	free(looking);
}

static void on_back(void *owner)
{
	struct alerts *alerts = owner;
	struct looking *looking = calloc(1, sizeof(*looking));

	timer_close(alerts->back);
	alerts->back = NULL;
	if (!looking)
		return;
	looking->alerts = alerts;
	arena_init(&looking->arena, LIST_BYTES);
	if (thread_work_start(alerts->services->thread_work, getuid(), look, looked, looking) < 0)
		free(looking);
}

void alerts_tell_lost(struct alerts *alerts)
{
	if (alerts->count)
		alerts->back = timer_new(alerts->services->loop, BACK_MS, 0, on_back, alerts);
}

void alerts_stop(struct alerts *alerts)
{
	timer_close(alerts->back);
	alerts->back = NULL;
}
