#include "daemon/loop.h"

#include <stdlib.h>
#include <unistd.h>

#include "proto/base/container.h"

struct watch {
	uv_poll_t poll;
	int fd;
	watch_ready *on_ready;
	void *owner;
};

struct timer {
	uv_timer_t timer;
	uint64_t repeat_ms;
	timer_due *on_due;
	void *owner;
};

struct work {
	uv_work_t req;
	work_fn *run;
	work_fn *done;
	void *context;
};

static void on_poll(uv_poll_t *poll, int status, int events)
{
	struct watch *watch = poll->data;

	/* An error on the descriptor shows itself to whoever reads from it next. */
	watch->on_ready(watch->owner, status < 0 ? UV_READABLE : events);
}

static void on_watch_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void watch_want(struct watch *watch, int events)
{
	if (events)
		(void)uv_poll_start(&watch->poll, events, on_poll);
	else
		(void)uv_poll_stop(&watch->poll);
}

struct watch *watch_new(uv_loop_t *loop, int fd, int events, watch_ready *on_ready, void *owner)
{
	struct watch *watch = calloc(1, sizeof(*watch));

	if (!watch || uv_poll_init(loop, &watch->poll, fd) < 0) {
		free(watch);
		close(fd);
		return NULL;
	}
	watch->poll.data = watch;
	watch->fd = fd;
	watch->on_ready = on_ready;
	watch->owner = owner;
	watch_want(watch, events);
	return watch;
}

int watch_fd(const struct watch *watch)
{
	return watch->fd;
}

void watch_close(struct watch *watch)
{
	if (!watch)
		return;
	uv_close((uv_handle_t *)&watch->poll, on_watch_closed);
	close(watch->fd);
}

static void on_timer(uv_timer_t *handle)
{
	struct timer *timer = handle->data;

	timer->on_due(timer->owner);
}

struct timer *timer_new(
	uv_loop_t *loop, uint64_t ms, uint64_t repeat_ms, timer_due *on_due, void *owner)
{
	struct timer *timer = calloc(1, sizeof(*timer));

	if (!timer)
		return NULL;
	(void)uv_timer_init(loop, &timer->timer); /* documented never to fail */
	timer->timer.data = timer;
	timer->repeat_ms = repeat_ms;
	timer->on_due = on_due;
	timer->owner = owner;
	timer_set(timer, ms);
	return timer;
}

void timer_set(struct timer *timer, uint64_t ms)
{
	(void)uv_timer_start(&timer->timer, on_timer, ms, timer->repeat_ms);
}

void timer_close(struct timer *timer)
{
	if (timer)
		uv_close((uv_handle_t *)&timer->timer, on_watch_closed);
}

static void on_work(uv_work_t *req)
{
	struct work *work = container_of(req, struct work, req);

	work->run(work->context);
}

static void on_work_done(uv_work_t *req, int status)
{
	struct work *work = container_of(req, struct work, req);

	(void)status; /* work is never cancelled */
	work->done(work->context);
	free(work);
}

int work_start(uv_loop_t *loop, work_fn *work_function, work_fn *done, void *context)
{
	struct work *work = calloc(1, sizeof(*work));

	if (!work)
		return -1;
	work->run = work_function;
	work->done = done;
	work->context = context;
	if (uv_queue_work(loop, &work->req, on_work, on_work_done) < 0) {
		free(work);
		return -1;
	}
	return 0;
}
