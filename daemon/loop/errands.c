#include "daemon/loop/errands.h"

#include <stdlib.h>

#include "proto/base/container.h"

/* The work of one user. */
struct lane {
	struct list link;
	uint32_t uid;
	unsigned running;
	struct list waiting;
};

struct errand {
	struct list link;
	struct errands *errands;
	struct lane *lane;
	uv_work_t req; /* allocated here, so that starting it cannot fail */
	work_fn *run;
	work_fn *done;
	void *context;
};

void errands_init(struct errands *errands, uv_loop_t *loop)
{
	*errands = (struct errands){ .loop = loop };
	list_init(&errands->lanes);
}

static struct lane *lane_of(struct errands *errands, uint32_t uid)
{
	struct lane *lane;

	list_for_each(at, &errands->lanes) {
		lane = container_of(at, struct lane, link);
		if (lane->uid == uid)
			return lane;
	}
	lane = calloc(1, sizeof(*lane));
	if (!lane)
		return NULL;
	lane->uid = uid;
	list_init(&lane->waiting);
	list_append(&errands->lanes, &lane->link);
	return lane;
}

static void leave_lane(struct lane *lane)
{
	if (lane->running || !list_is_empty(&lane->waiting))
		return;
	list_remove(&lane->link);
	free(lane);
}

static void on_thread(uv_work_t *req)
{
	struct errand *errand = container_of(req, struct errand, req);

	errand->run(errand->context);
}

static void serve(struct errands *errands);

static void on_done(uv_work_t *req, int status)
{
	struct errand *errand = container_of(req, struct errand, req);
	struct errands *errands = errand->errands;

	(void)status; /* work is never cancelled */
	errands->running--;
	errand->lane->running--;
	leave_lane(errand->lane);
	serve(errands); /* first: done() may free `errands` */
	errand->done(errand->context);
	free(errand);
}

/* Moves the lane to the end, so that other users are served first the next time. */
static void begin(struct errands *errands, struct lane *lane)
{
	struct list *first = list_first(&lane->waiting);
	struct errand *errand = container_of(first, struct errand, link);

	list_remove(first);
	list_remove(&lane->link);
	list_append(&errands->lanes, &lane->link);
	lane->running++;
	errands->running++;
	(void)uv_queue_work(errands->loop, &errand->req, on_thread, on_done);
}

static struct lane *next_lane(const struct errands *errands)
{
	list_for_each(at, &errands->lanes) {
		struct lane *lane = container_of(at, struct lane, link);

		if (lane->running < ERRANDS_PER_USER && !list_is_empty(&lane->waiting))
			return lane;
	}
	return NULL;
}

static void serve(struct errands *errands)
{
	struct lane *lane;

	while (errands->running < ERRANDS_MOST && (lane = next_lane(errands)))
		begin(errands, lane);
}

int errands_start(struct errands *errands, uint32_t uid, work_fn *run, work_fn *done, void *context)
{
	struct errand *errand = errands->stopped ? NULL : calloc(1, sizeof(*errand));
	struct lane *lane = errand ? lane_of(errands, uid) : NULL;

	if (!lane) {
		free(errand);
		return -1;
	}
	*errand = (struct errand){
		.errands = errands, .lane = lane, .run = run, .done = done, .context = context
	};
	list_append(&lane->waiting, &errand->link);
	serve(errands);
	return 0;
}

/* NULL: no work is waiting. */
static struct errand *take_waiting(struct errands *errands)
{
	list_for_each(at, &errands->lanes) {
		struct lane *lane = container_of(at, struct lane, link);
		struct list *first = list_first(&lane->waiting);

		if (!first)
			continue;
		list_remove(first);
		leave_lane(lane);
		return container_of(first, struct errand, link);
	}
	return NULL;
}

void errands_stop(struct errands *errands)
{
	struct errand *errand;

	errands->stopped = true;
	while ((errand = take_waiting(errands))) {
		errand->done(errand->context);
		free(errand);
	}
}
