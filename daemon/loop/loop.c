#include "daemon/loop/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "proto/base/list.h"

#define DUE_MAX 128 /* watches reported in one turn of the loop; the next turn has the others */

/*
 * All watches of a loop are in an epoll set of our own, and libuv watches only that set.  libuv
 * takes a new place in its own set whenever the events of a descriptor change.  It aborts when the
 * kernel refuses one.  The kernel counts places per user, so other processes of our user can take
 * the last one.  Here watch_new() takes the place, reports a failure, and keeps the place until the
 * end.
 */
struct watches {
	struct list link;
	uv_loop_t *loop;
	uv_poll_t poll;
	int set;
	unsigned count;
	struct epoll_event due[DUE_MAX]; /* being reported; NULL: closed meanwhile */
	int due_count;
	struct list closed; /* struct watch; freed when no report is under way */
};

struct watch {
	struct list closed;
	struct watches *all;
	int fd;
	int wanted;
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

/* ---- places in epoll sets ------------------------------------------------------------------- */

int loop_hold_place(uv_loop_t *loop, int fd, struct err *err)
{
	struct epoll_event event = { .data.fd =
					     fd }; /* as libuv sets it: it changes only `events` */

	if (epoll_ctl(uv_backend_fd(loop), EPOLL_CTL_ADD, fd, &event) == 0 || errno == EEXIST)
		return 0;
	return err_sys(err, "the kernel does not watch another descriptor");
}

/* ---- watches -------------------------------------------------------------------------------- */

static struct list all_watches = { &all_watches, &all_watches };

static void free_closed(struct watches *all)
{
	struct list *first;

	while ((first = list_first(&all->closed))) {
		list_remove(first);
		free(container_of(first, struct watch, closed));
	}
}

static void on_set_closed(uv_handle_t *handle)
{
	struct watches *all = handle->data;

	free_closed(all);
	close(all->set);
	free(all);
}

static void give_back(struct watches *all)
{
	if (--all->count)
		return;
	list_remove(&all->link);
	uv_close((uv_handle_t *)&all->poll, on_set_closed);
}

/*
 * The events as libuv names them.  A descriptor that hangs up counts as readable and as writable,
 * as far as its owner asked for either.
 */
static int ready_for(const struct watch *watch, uint32_t events)
{
	int ready = 0;

	if (events & EPOLLERR)
		return UV_READABLE; /* the next read() returns the error */
	if (events & (EPOLLIN | EPOLLHUP))
		ready |= watch->wanted & UV_READABLE;
	if (events & (EPOLLOUT | EPOLLHUP))
		ready |= watch->wanted & UV_WRITABLE;
	return ready;
}

static void tell(struct watch *watch, uint32_t events)
{
	int ready = watch->wanted ? ready_for(watch, events) : 0;

	if (events & EPOLLERR)
		watch_want(watch, 0); /* report an error once */
	if (ready)
		watch->on_ready(watch->owner, ready);
}

static void on_set(uv_poll_t *poll, int status, int events)
{
	struct watches *all = poll->data;

	(void)status;
	(void)events;
	free_closed(all);
	all->due_count = epoll_wait(all->set, all->due, DUE_MAX, 0);
	for (int i = 0; i < all->due_count; i++)
		if (all->due[i].data.ptr)
			tell(all->due[i].data.ptr, all->due[i].events);
	all->due_count = 0;
}

static struct watches *make_set(uv_loop_t *loop)
{
	struct watches *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	all->set = epoll_create1(EPOLL_CLOEXEC);
	if (all->set < 0 || uv_poll_init(loop, &all->poll, all->set) < 0) {
		if (all->set >= 0)
			close(all->set);
		free(all);
		return NULL;
	}
	all->loop = loop;
	all->poll.data = all;
	list_init(&all->closed);
	list_append(&all_watches, &all->link);
	all->count = 1;
	if (uv_poll_start(&all->poll, UV_READABLE, on_set) < 0 ||
		loop_hold_place(loop, all->set, NULL) < 0) {
		give_back(all);
		return NULL;
	}
	return all;
}

/* Returns the set of this loop and counts one more user of it. */
static struct watches *take_set(uv_loop_t *loop)
{
	list_for_each(at, &all_watches) {
		struct watches *all = container_of(at, struct watches, link);

		if (all->loop == loop) {
			all->count++;
			return all;
		}
	}
	return make_set(loop);
}

static struct epoll_event waited_for(struct watch *watch)
{
	struct epoll_event event = { .data.ptr = watch };

	event.events |= (watch->wanted & UV_READABLE) ? EPOLLIN : 0;
	event.events |= (watch->wanted & UV_WRITABLE) ? EPOLLOUT : 0;
	if (!watch->wanted)
		event.events = EPOLLONESHOT; /* the kernel always reports a hang-up: take it once */
	return event;
}

void watch_want(struct watch *watch, int events)
{
	struct epoll_event event;

	watch->wanted = events;
	event = waited_for(watch);
	(void)epoll_ctl(watch->all->set, EPOLL_CTL_MOD, watch->fd, &event); /* has its place */
}

struct watch *watch_new(uv_loop_t *loop, int fd, int events, watch_ready *on_ready, void *owner)
{
	struct watch *watch = calloc(1, sizeof(*watch));
	struct epoll_event event;

	if (watch)
		watch->all = take_set(loop);
	if (!watch || !watch->all) {
		free(watch);
		close(fd);
		return NULL;
	}
	watch->fd = fd;
	watch->wanted = events;
	watch->on_ready = on_ready;
	watch->owner = owner;
	event = waited_for(watch);
	if (fd_set_nonblocking(fd, true, NULL) < 0 ||
		epoll_ctl(watch->all->set, EPOLL_CTL_ADD, fd, &event) < 0) {
		give_back(watch->all);
		free(watch);
		close(fd);
		return NULL;
	}
	return watch;
}

int watch_fd(const struct watch *watch)
{
	return watch->fd;
}

void watch_close(struct watch *watch)
{
	struct epoll_event none = { 0 };
	struct watches *all;

	if (!watch)
		return;
	all = watch->all;
	(void)epoll_ctl(all->set, EPOLL_CTL_DEL, watch->fd, &none);
	close(watch->fd);
	for (int i = 0; i < all->due_count; i++)
		if (all->due[i].data.ptr == watch)
			all->due[i].data.ptr = NULL;
	list_append(&all->closed, &watch->closed);
	give_back(all);
}

/* ---- timers --------------------------------------------------------------------------------- */

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

static void on_timer_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void timer_close(struct timer *timer)
{
	if (timer)
		uv_close((uv_handle_t *)&timer->timer, on_timer_closed);
}

/* ---- work on threads ------------------------------------------------------------------------ */

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
