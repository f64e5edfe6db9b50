#include "daemon/egress/egress.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/egress/conn.h"
#include "daemon/egress/run.h"
#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"

#define EVENTS_MAX 128
#define TICK_MS    200
#define DRAIN_MS   10 /* from look to look at runs that are ending */

/* ---- messages -------------------------------------------------------------------------------- */

void egress_tell(struct egress *egress, const struct egress_msg *msg)
{
	struct err err = ERR_INIT;

	while (!egress->over && egressmsg_send(egress->control.fd, msg, -1, &err) < 0) {
		struct pollfd line = { .fd = egress->control.fd, .events = POLLOUT };

		egress->over = err.code != ERR_BUSY || (poll(&line, 1, -1) < 0 && errno != EINTR);
	}
}

static int set_up(struct egress *egress, const struct egress_setup *setup, struct err *err)
{
	static struct egress_msg ready = { .magic = EGRESS_MAGIC }; /* large for a stack */

	ready.kind = EGRESS_READY;
	addresses_open(setup->privates, setup->private_count);
	if (names_use(egress->names, setup->resolvers, err) < 0)
		return -1;
	egress_tell(egress, &ready);
	return 0;
}

/* A run that cannot be begun has ended: its program sees refused connections. */
static void begin_run(struct egress *egress, const struct egress_begin *begin, int fd)
{
	static struct egress_msg ended = { .magic = EGRESS_MAGIC }; /* large for a stack */

	ended.kind = EGRESS_ENDED;
	ended.body.end.run = begin->run;
	if (run_start(egress, begin, fd) < 0)
		egress_tell(egress, &ended);
}

static void end_run(struct egress *egress, const struct egress_end *end)
{
	struct run *run = run_find(egress, end->run);

	if (run)
		run_end(run, end->drains != 0);
}

/* Returns 1 when there is more, 0 when there is nothing now, -1 at the end. */
static int serve_message(struct egress *egress, struct err *err)
{
	static struct egress_msg msg;
	struct err failure = ERR_INIT;
	int fd = -1;
	int got = egressmsg_recv(egress->control.fd, true, &msg, &fd, &failure);

	if (got < 0 && failure.code == ERR_BUSY)
		return 0;
	if (got < 0)
		return err_pass(err, &failure);
	if (got == 0) {
		egress->over = true;
		return 0;
	}
	if (msg.kind == EGRESS_SETUP)
		return set_up(egress, &msg.body.setup, err) < 0 ? -1 : 1;
	if (msg.kind == EGRESS_BEGIN)
		begin_run(egress, &msg.body.begin, fd);
	else
		end_run(egress, &msg.body.end);
	return 1;
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Served after all other events of a turn, since it may end runs that these are about. */
static void on_control(struct loop_io *io, uint32_t events)
{
	(void)io;
	(void)events;
}

static void bury(struct egress *egress)
{
	list_for_each(at, &egress->dead) {
		struct conn *conn = container_of(at, struct conn, link);

		if (!conn_is_done(conn))
			continue;
		list_remove(&conn->link);
		free(conn);
	}
}

static void tick(struct egress *egress)
{
	static int64_t last_ms;

	if (clock_ms() - last_ms < TICK_MS)
		return;
	last_ms = clock_ms();
	names_tick(egress->names);
	list_for_each(at, &egress->runs)
		run_tick(container_of(at, struct run, link));
}

/*
 * True: some have not ended yet.  The loop turns as often as bytes come for other runs, so connections are
 * looked at only when it is time for that.
 */
static bool end_drained(struct egress *egress)
{
	static int64_t last_ms;
	const bool is_time = clock_ms() - last_ms >= DRAIN_MS;
	bool some = false;

	if (is_time)
		last_ms = clock_ms();
	list_for_each(at, &egress->runs) {
		struct run *run = container_of(at, struct run, link);
		const bool may_end = is_time || list_is_empty(&run->conns);

		some |= run->is_ending && !(may_end && run_end_drained(run));
	}
	return some;
}

int egress_init(struct egress *egress, int sock, struct err *err)
{
	*egress = (struct egress){ .control = { sock, 0, on_control } };
	list_init(&egress->runs);
	list_init(&egress->dead);
	egress->loop.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (egress->loop.epoll < 0 || loop_want(&egress->loop, &egress->control, EPOLLIN) < 0)
		return err_sys(err, "epoll");
	if (fd_set_nonblocking(sock, true, err) < 0)
		return -1;
	egress->names = names_new(&egress->loop, err);
	return egress->names ? 0 : -1;
}

static int serve_messages(struct egress *egress, struct err *err)
{
	int served;

	do
		served = serve_message(egress, err);
	while (served > 0);
	return served;
}

int egress_serve(struct egress *egress, struct err *err)
{
	struct epoll_event events[EVENTS_MAX];
	int wait_ms = -1;

	while (!egress->over) {
		int count = epoll_wait(egress->loop.epoll, events, EVENTS_MAX, wait_ms);

		if (count < 0 && errno != EINTR)
			return err_sys(err, "epoll_wait");
		for (int i = 0; i < count; i++) {
			struct loop_io *io = events[i].data.ptr;

			if (io->events) /* not taken out by an event before it */
				io->on_event(io, events[i].events);
		}
		if (serve_messages(egress, err) < 0)
			return -1;
		tick(egress);
		wait_ms = end_drained(egress) ? DRAIN_MS : TICK_MS;
		if (list_is_empty(&egress->runs))
			wait_ms = -1;
		bury(egress);
	}
	return 0;
}
