#include "daemon/egress/run.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/egress/conn.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"

#define ACCEPTS_AT_END  1024 /* more than a queue holds */
#define ACCEPTS_AT_ONCE 16   /* from one listener in one turn; then others get theirs */

struct run *run_find(struct egress *egress, uint64_t id)
{
	list_for_each(at, &egress->runs) {
		struct run *run = container_of(at, struct run, link);

		if (run->rules.run == id)
			return run;
	}
	return NULL;
}

/* ---- rules ----------------------------------------------------------------------------------- */

const struct egress_rule *run_rule_of_address(
	const struct run *run, uint32_t address, uint16_t port)
{
	for (uint32_t i = 0; i < run->rules.rule_count; i++) {
		const struct egress_rule *rule = &run->rules.rules[i];

		if (rule->address && rule->address == address && rule->port == port)
			return rule;
	}
	return NULL;
}

/* A last label of digits, or 0x..., is an address in some form, and never meant by a pattern. */
static bool looks_like_address(const char *host)
{
	const char *dot = strrchr(host, '.');
	const char *last = dot ? dot + 1 : host;

	return last[strspn(last, "0123456789")] == '\0' || strncmp(last, "0x", 2) == 0 ||
	       !strchr(host, '.');
}

static bool fits(const char *pattern, const char *host)
{
	size_t host_len = strlen(host);
	size_t tail_len;

	if (strcmp(pattern, host) == 0)
		return true;
	if (pattern[0] != '*' || looks_like_address(host))
		return false;
	if (pattern[1] == '\0')
		return true;
	tail_len = strlen(pattern + 1); /* ".example.org" */
	return host_len > tail_len && strcmp(host + host_len - tail_len, pattern + 1) == 0;
}

/* Exact rules before patterns. */
const struct egress_rule *run_rule_of_host(const struct run *run, const char *host, uint16_t port)
{
	const struct egress_rule *found = NULL;

	for (uint32_t i = 0; i < run->rules.rule_count; i++) {
		const struct egress_rule *rule = &run->rules.rules[i];

		if (rule->port != port || !fits(rule->host, host))
			continue;
		if (rule->host[0] != '*')
			return rule;
		if (!found)
			found = rule;
	}
	return found;
}

/* ---- listeners ------------------------------------------------------------------------------- */

/* Accepts what waits, at most so many. */
static void accept_some(struct run_listener *listener, int most)
{
	for (int i = 0; i < most; i++) {
		int fd = accept4(listener->io.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0 && (errno == ECONNABORTED || errno == EINTR))
			continue;
		if (fd < 0 && errno == EAGAIN)
			return;
		if (fd < 0 || conn_start(listener->run, fd) < 0) {
			/* no room: it waits in the queue of the listener until the next tick */
			(void)loop_want(&listener->run->egress->loop, &listener->io, 0);
			return;
		}
	}
}

static void on_connection(struct loop_io *io, uint32_t events)
{
	(void)events;
	accept_some(container_of(io, struct run_listener, io), ACCEPTS_AT_ONCE);
}

static int number_of(int fd, int option)
{
	int value = -1;
	socklen_t len = sizeof(value);

	return getsockopt(fd, SOL_SOCKET, option, &value, &len) < 0 ? -1 : value;
}

/* Whether it is what a slot sends: a listening socket of TCP over IPv4. */
static bool is_listener(int fd)
{
	return number_of(fd, SO_DOMAIN) == AF_INET && number_of(fd, SO_TYPE) == SOCK_STREAM &&
	       number_of(fd, SO_PROTOCOL) == IPPROTO_TCP && number_of(fd, SO_ACCEPTCONN) == 1;
}

static void add_listener(struct run *run, int fd)
{
	struct run_listener *listener = &run->listeners[run->listener_count];

	if (run->listener_count == RUN_LISTENERS_MAX || !is_listener(fd) ||
		fd_set_nonblocking(fd, true, NULL) < 0) {
		close(fd);
		return;
	}
	listener->run = run;
	listener->io = (struct loop_io){ fd, 0, on_connection };
	run->listener_count++;
	(void)loop_want(&run->egress->loop, &listener->io, EPOLLIN);
}

static void close_io(const struct run *run, struct loop_io *io)
{
	if (io->fd < 0)
		return;
	(void)loop_want(&run->egress->loop, io, 0);
	close(io->fd);
	io->fd = -1;
}

static void on_bringer(struct loop_io *io, uint32_t events)
{
	struct run *run = container_of(io, struct run, bringer);
	int fds[RUN_LISTENERS_MAX];
	size_t count = 0;
	char byte;
	struct err err = ERR_INIT;
	ssize_t got = recv_with_fds(io->fd, &byte, 1, fds, RUN_LISTENERS_MAX, &count, &err);

	(void)events;
	if (got < 0 && err.code == ERR_BUSY)
		return;
	for (size_t i = 0; got > 0 && i < count; i++)
		add_listener(run, fds[i]);
	close_io(run, io);
}

/* ---- its life -------------------------------------------------------------------------------- */

int run_start(struct egress *egress, const struct egress_begin *begin, int bringer)
{
	struct run *run = run_find(egress, begin->run) ? NULL : calloc(1, sizeof(*run));

	if (!run || fd_set_nonblocking(bringer, true, NULL) < 0) {
		free(run);
		close(bringer);
		return -1;
	}
	run->egress = egress;
	run->rules = *begin;
	run->bringer = (struct loop_io){ bringer, 0, on_bringer };
	list_init(&run->conns);
	list_append(&egress->runs, &run->link);
	return loop_want(&egress->loop, &run->bringer, EPOLLIN);
}

void run_end(struct run *run, bool drains)
{
	run->is_ending = true;
	run->ending_ms = clock_ms() + (drains ? EGRESS_DRAIN_MS : 0);
	/* A short program may end before the turn of its listeners comes. */
	if (run->bringer.fd >= 0)
		on_bringer(&run->bringer, EPOLLIN);
	close_io(run, &run->bringer);
	for (unsigned i = 0; i < run->listener_count; i++) {
		/* those that the program made last are in the record, too */
		accept_some(&run->listeners[i], ACCEPTS_AT_END);
		close_io(run, &run->listeners[i].io);
	}
	list_for_each(at, &run->conns) {
		struct conn *conn = container_of(at, struct conn, link);

		if (drains)
			conn_drain(conn);
		else
			conn_end(conn);
	}
}

bool run_end_drained(struct run *run)
{
	static struct egress_msg ended = { .magic = EGRESS_MAGIC }; /* large for a stack */
	const bool is_late = clock_ms() >= run->ending_ms;

	list_for_each(at, &run->conns) {
		struct conn *conn = container_of(at, struct conn, link);

		if (is_late || conn_is_silent(conn))
			conn_end(conn);
		else
			conn_drain(conn);
	}
	if (!list_is_empty(&run->conns))
		return false;
	ended.kind = EGRESS_ENDED;
	ended.body.end.run = run->rules.run;
	egress_tell(run->egress, &ended);
	list_remove(&run->link);
	free(run);
	return true;
}

void run_tick(struct run *run)
{
	for (unsigned i = 0; i < run->listener_count; i++)
		(void)loop_want(&run->egress->loop, &run->listeners[i].io, EPOLLIN);
	list_for_each(at, &run->conns)
		conn_tick(container_of(at, struct conn, link));
}
