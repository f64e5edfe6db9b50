#include "daemon/egress/conn.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h> /* has more in tcp_info than that of libc */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/egress/hello.h"
#include "daemon/egress/pipes.h"
#include "daemon/egress/request_head.h"
#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"

#define HEAD_MS       5000
#define HELLO_MS      5000
#define LOOKUP_MS     5000
#define CONNECT_MS    10000
#define IDLE_MS       60000
#define SILENT_MS     20 /* from the end of a run; a jail's loopback takes less */
#define HEAD_BYTES    65536
#define COPY_BYTES    ((size_t)64 << 10) /* in one move, where there is no pipe */
#define MOVES_AT_ONCE 4                  /* in one turn; then other connections get theirs */

/* ---- the end --------------------------------------------------------------------------------- */

static void close_io(struct conn *conn, struct loop_io *io, bool reset)
{
	const struct linger at_once = { 1, 0 };

	if (io->fd < 0)
		return;
	(void)loop_want(&conn->run->egress->loop, io, 0);
	if (reset)
		(void)setsockopt(io->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(io->fd);
	io->fd = -1;
}

static void tell(struct conn *conn, enum egress_kind kind)
{
	static struct egress_msg msg = { .magic = EGRESS_MAGIC }; /* large for a stack */

	msg.kind = kind;
	conn->report.took_us = clock_us() - conn->started_us;
	msg.body.connection = conn->report;
	egress_tell(conn->run->egress, &msg);
}

static void leave(struct conn *conn, bool reset)
{
	struct egress *egress = conn->run->egress;

	close_io(conn, &conn->in, reset);
	close_io(conn, &conn->out, reset);
	free(conn->head);
	conn->head = NULL;
	conn->state = CONN_OVER;
	conn->run->at_once--;
	list_remove(&conn->link);
	list_append(&egress->dead, &conn->link);
}

/* A connection that leads nowhere.  The proxy says so in its own words. */
static void refuse(struct conn *conn, enum egress_verdict verdict, enum egress_why why)
{
	char text[256];
	const bool says = conn->report.way == EGRESS_BY_PROXY && conn->state != CONN_HELLO &&
			  !(conn->rule && conn->rule->tls && conn->is_connect);

	conn->report.verdict = verdict;
	conn->report.why = why;
	conn->report.up = conn->name_bytes;
	tell(conn, EGRESS_DECIDED);
	if (says) {
		cut_printf(text, sizeof(text),
			"HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n"
			"X-Ced: %s\r\n\r\n",
			verdict == EGRESS_FAILED ? "502 Bad Gateway" : "403 Forbidden",
			egress_why_word(why));
		(void)send(conn->in.fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
		(void)shutdown(conn->in.fd, SHUT_WR);
	}
	leave(conn, !says);
}

/* What the other side never took is not counted. */
static void drop_pipe(struct conn_flow *flow, uint64_t *used, uint64_t *counted)
{
	if (!flow->pipe)
		return;
	*used -= flow->in_pipe;
	*counted -= flow->in_pipe;
	pipes_give(flow->pipe, false);
	flow->pipe = NULL;
}

/* What the kernel has never sent is lost with a reset, and so not counted. */
static void uncount_unsent(struct conn *conn)
{
	struct tcp_info info = { .tcpi_notsent_bytes = 0 };
	socklen_t len = sizeof(info);
	uint64_t unsent;

	if (getsockopt(conn->out.fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
		return;
	unsent = info.tcpi_notsent_bytes;
	if (unsent > 0 && conn->up.shut)
		unsent--; /* the end is counted as a byte */
	conn->report.up -= unsent < conn->report.up ? unsent : conn->report.up;
}

/* The end of one that was allowed. */
static void finish(struct conn *conn, enum egress_why why, bool reset)
{
	const bool limit = why == EGRESS_WHY_UP_BYTES || why == EGRESS_WHY_DOWN_BYTES;
	const bool allowed =
		why == EGRESS_WHY_NONE || why == EGRESS_WHY_TIMEOUT || why == EGRESS_WHY_MEMORY;

	drop_pipe(&conn->up, &conn->run->up, &conn->report.up);
	drop_pipe(&conn->down, &conn->run->down, &conn->report.down);
	if (reset && !limit)
		uncount_unsent(conn);
	conn->report.verdict = limit ? EGRESS_LIMIT : allowed ? EGRESS_ALLOWED : EGRESS_DENIED;
	conn->report.why = why;
	conn->report.up += conn->name_bytes;
	tell(conn, EGRESS_CLOSED);
	leave(conn, reset);
}

static void enter(struct conn *conn, enum conn_state state, int64_t most_ms)
{
	conn->state = state;
	conn->deadline_ms = clock_ms() + most_ms;
}

static void want(struct conn *conn, struct loop_io *io, uint32_t events)
{
	(void)loop_want(&conn->run->egress->loop, io, events);
}

/* ---- moving bytes ---------------------------------------------------------------------------- */

/* Of one direction: from where, to where, and what is counted. */
struct course {
	struct conn_flow *flow;
	int from, to;
	uint64_t *used, *counted; /* by the run and by this connection */
	uint64_t most;
	enum egress_why limit;
	bool held; /* only `first` is sent */
};

static struct course course_of(struct conn *conn, bool is_up)
{
	struct run *run = conn->run;

	if (is_up)
		return (struct course){ &conn->up, conn->in.fd, conn->out.fd, &run->up,
			&conn->report.up, run->rules.up_bytes, EGRESS_WHY_UP_BYTES,
			conn->state == CONN_ANSWER };
	return (struct course){ &conn->down, conn->out.fd, conn->in.fd, &run->down,
		&conn->report.down, run->rules.down_bytes, EGRESS_WHY_DOWN_BYTES, false };
}

enum moved {
	MOVED_WAITS,
	MOVED_SOME,
	MOVED_LIMIT,
	MOVED_BROKEN,
};

/* At the limit: an end is still seen, and one more byte is too many. */
static enum moved look_past_limit(const struct course *course)
{
	char byte;
	ssize_t got = recv(course->from, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	if (got < 0)
		return errno == EAGAIN ? MOVED_WAITS : MOVED_BROKEN;
	course->flow->ended = got == 0;
	return got == 0 ? MOVED_SOME : MOVED_LIMIT;
}

static enum moved count(const struct course *course, ssize_t sent, size_t had)
{
	course->flow->is_full = sent < (ssize_t)had;
	if (sent < 0)
		return errno == EAGAIN ? MOVED_WAITS : MOVED_BROKEN;
	*course->used += (uint64_t)sent;
	*course->counted += (uint64_t)sent;
	return MOVED_SOME;
}

static enum moved send_first(const struct course *course, uint64_t most)
{
	struct conn_flow *flow = course->flow;
	const size_t len = flow->first_len < most ? flow->first_len : (size_t)most;
	const ssize_t sent = send(course->to, flow->first, len, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (sent > 0) {
		flow->first += sent;
		flow->first_len -= (size_t)sent;
	}
	return count(course, sent, len);
}

/*
 * Bytes stay in the one socket until the other has taken them.  So a connection that waits holds no memory
 * of ours, and who sends is held up by who does not read.
 */
static enum moved copy(const struct course *course, uint64_t most)
{
	static char bytes[COPY_BYTES]; /* of the connection whose turn it is */
	const size_t room = most < sizeof(bytes) ? (size_t)most : sizeof(bytes);
	const ssize_t got = recv(course->from, bytes, room, MSG_PEEK | MSG_DONTWAIT);
	enum moved moved;
	ssize_t sent;

	if (got < 0)
		return errno == EAGAIN ? MOVED_WAITS : MOVED_BROKEN;
	course->flow->ended = got == 0;
	if (got == 0)
		return MOVED_SOME;
	sent = send(course->to, bytes, (size_t)got, MSG_NOSIGNAL | MSG_DONTWAIT);
	moved = count(course, sent, (size_t)got);
	if (sent > 0 && recv(course->from, bytes, (size_t)sent, MSG_TRUNC | MSG_DONTWAIT) != sent)
		return MOVED_BROKEN;
	return moved;
}

/* What is in the pipe was counted when it came there. */
static enum moved empty_pipe(struct conn_flow *flow, int to)
{
	const ssize_t sent = splice(
		flow->pipe->from, NULL, to, NULL, flow->in_pipe, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);

	flow->is_full = sent < (ssize_t)flow->in_pipe;
	if (sent < 0)
		return errno == EAGAIN || errno == EINTR ? MOVED_WAITS : MOVED_BROKEN;
	flow->in_pipe -= (size_t)sent;
	if (flow->in_pipe == 0) {
		pipes_give(flow->pipe, true);
		flow->pipe = NULL;
	}
	return MOVED_SOME;
}

/*
 * By a pipe if there is one (docs/decisions/0159).  The end is left to copy(), and so are urgent bytes:
 * splice() stops before them and says the same as at an end, or that there are none.
 */
static enum moved pass_on(const struct course *course, uint64_t most)
{
	struct conn_flow *flow = course->flow;
	struct pipe *pipe = pipes_take();
	ssize_t got;

	if (!pipe)
		return copy(course, most);
	got = splice(course->from, NULL, pipe->to, NULL,
		most < PIPE_BYTES ? (size_t)most : PIPE_BYTES, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
	if (got <= 0) {
		/* An error is told once: copy() would find an end instead. */
		const bool is_broken =
			got < 0 && errno != EAGAIN && errno != EINTR && errno != EINVAL;

		pipes_give(pipe, true);
		return is_broken ? MOVED_BROKEN : copy(course, most);
	}
	flow->pipe = pipe;
	flow->in_pipe = (size_t)got;
	*course->used += (uint64_t)got;
	*course->counted += (uint64_t)got;
	return empty_pipe(flow, course->to);
}

static enum moved move_once(const struct course *course)
{
	struct conn_flow *flow = course->flow;
	const uint64_t left = course->most - *course->used;

	if (flow->shut || (course->held && !flow->first_len))
		return MOVED_WAITS;
	if (flow->pipe)
		return empty_pipe(flow, course->to);
	if (flow->ended) {
		flow->shut = true;
		return shutdown(course->to, SHUT_WR) < 0 ? MOVED_BROKEN : MOVED_SOME;
	}
	if (left == 0)
		return flow->first_len ? MOVED_LIMIT : look_past_limit(course);
	return flow->first_len ? send_first(course, left) : pass_on(course, left);
}

/* False: the connection is over. */
static bool move(struct conn *conn, bool is_up)
{
	const struct course course = course_of(conn, is_up);
	enum moved moved = MOVED_SOME;

	course.flow->is_full = false;
	for (int i = 0; i < MOVES_AT_ONCE && moved == MOVED_SOME && !course.flow->is_full; i++) {
		moved = move_once(&course);
		if (moved != MOVED_SOME)
			continue;
		conn->deadline_ms = clock_ms() + IDLE_MS;
		if (is_up)
			conn->heard_ms = clock_ms();
	}
	if (moved == MOVED_LIMIT)
		finish(conn, course.limit, true);
	else if (moved == MOVED_BROKEN)
		finish(conn, EGRESS_WHY_NONE, true);
	return moved != MOVED_LIMIT && moved != MOVED_BROKEN;
}

/* Bytes, or the end behind them, which a turn may have come to without telling it. */
static bool has_to_send(const struct conn_flow *flow)
{
	return flow->is_full || (flow->ended && !flow->shut);
}

/* ---- the end of a run ------------------------------------------------------------------------ */

/*
 * Nobody reads answers any more.  The jail's kernel would drop what it has yet to send if one came there,
 * and ours would if it found one unread when the socket is closed.  False: the connection is over.
 */
static bool drop_answers(struct conn *conn)
{
	static char bytes[COPY_BYTES];
	const ssize_t got = recv(conn->out.fd, bytes, sizeof(bytes), MSG_TRUNC | MSG_DONTWAIT);

	if (got == 0)
		conn->down.ended = true;
	if (got >= 0 || errno == EAGAIN || errno == EINTR)
		return true;
	conn_end(conn);
	return false;
}

/* Whether the server's kernel has all that ours was given.  The count of TCP_INFO begins with the SYN. */
static bool server_has_all(const struct conn *conn)
{
	const uint64_t given = conn->report.up - conn->up.in_pipe;
	struct tcp_info info = { .tcpi_bytes_acked = 0 };
	socklen_t len = sizeof(info);

	return getsockopt(conn->out.fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0 ||
	       info.tcpi_bytes_acked > given;
}

static void move_last(struct conn *conn)
{
	const struct conn_flow *up = &conn->up;

	if (!drop_answers(conn) || !move(conn, true))
		return;
	if (up->shut && server_has_all(conn)) {
		finish(conn, EGRESS_WHY_NONE, false);
		return;
	}
	want(conn, &conn->in, up->ended || up->is_full ? 0U : EPOLLIN);
	want(conn, &conn->out,
		(conn->down.ended ? 0U : EPOLLIN) | (has_to_send(up) ? EPOLLOUT : 0U));
}

/* ---- moving both ways ------------------------------------------------------------------------ */

/* Who shuts both ways is not asked about here: its last bytes may still wait to be read. */
static void move_both(struct conn *conn)
{
	const struct conn_flow *up = &conn->up;
	const struct conn_flow *down = &conn->down;

	if (conn->run->is_ending) {
		move_last(conn);
		return;
	}
	if (!move(conn, true) || !move(conn, false))
		return;
	if (up->shut && down->shut) {
		finish(conn, EGRESS_WHY_NONE, false);
		return;
	}
	want(conn, &conn->in,
		(up->ended || up->is_full ? 0U : EPOLLIN) | (has_to_send(down) ? EPOLLOUT : 0U));
	want(conn, &conn->out,
		(down->ended || down->is_full ? 0U : EPOLLIN) | (has_to_send(up) ? EPOLLOUT : 0U));
}

/* ---- looking at what comes first ----------------------------------------------------------------- */

/*
 * Looks at the first bytes and leaves them where they are.  0: nothing is there yet.  LOOK_ENDED: who sends
 * has sent no more than up to the last look.  The socket is not ready again before there are
 * more, or that end is closed.  LOOK_BROKEN: the connection is.
 */
#define LOOK_ENDED  (-1)
#define LOOK_BROKEN (-2)
static ssize_t look(struct conn *conn, int fd, void *bytes, size_t room)
{
	ssize_t got = recv(fd, bytes, room, MSG_PEEK | MSG_DONTWAIT);
	int want_bytes = (int)got + 1;

	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : LOOK_BROKEN;
	if (got == 0 || (size_t)got == conn->peeked)
		return LOOK_ENDED;
	conn->peeked = (size_t)got;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &want_bytes, sizeof(want_bytes));
	return got;
}

static void looked(struct conn *conn, int fd)
{
	const int one = 1;

	conn->peeked = 0;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &one, sizeof(one));
}

/* Until the second greeting is there, what the server says goes on to the program. */
static void pass_answer(struct conn *conn)
{
	const int64_t deadline_ms = conn->deadline_ms;

	if (!move(conn, false))
		return;
	conn->deadline_ms = deadline_ms;
	want(conn, &conn->out, conn->down.ended || conn->down.is_full ? 0U : EPOLLIN);
	want(conn, &conn->in, EPOLLIN | (has_to_send(&conn->down) ? EPOLLOUT : 0U));
}

static void await_second_hello(struct conn *conn)
{
	enter(conn, CONN_AGAIN, HELLO_MS);
	pass_answer(conn);
}

/*
 * A server may ask for another greeting, and it is that one which it then takes the name from.  Until it
 * has answered, only the first greeting is sent.
 */
static void await_answer(struct conn *conn)
{
	char bytes[HELLO_ANSWER_BYTES];
	enum hello_answer answer = HELLO_ANSWER_LAST;
	ssize_t got;

	if (!move(conn, true))
		return;
	want(conn, &conn->out, conn->up.first_len ? EPOLLOUT : EPOLLIN);
	if (conn->up.first_len)
		return;
	got = look(conn, conn->out.fd, bytes, sizeof(bytes));
	if (got > 0)
		answer = hello_answer_read((const uint8_t *)bytes, (size_t)got);
	else if (got == LOOK_ENDED && conn->peeked)
		answer = HELLO_ANSWER_NONE; /* an answer that is cut tells nothing */
	if (got == 0 || answer == HELLO_ANSWER_MORE)
		return;
	looked(conn, conn->out.fd);
	if (got == LOOK_BROKEN) {
		finish(conn, EGRESS_WHY_NONE, true);
	} else if (answer == HELLO_ANSWER_NONE) {
		finish(conn, EGRESS_WHY_NOT_TLS, true);
	} else if (answer == HELLO_ANSWER_RETRY) {
		await_second_hello(conn);
	} else {
		enter(conn, CONN_MOVE, IDLE_MS);
		move_both(conn);
	}
}

static const char well[] = "HTTP/1.1 200 Connection established\r\n\r\n";

static void begin_moving(struct conn *conn)
{
	conn->report.connect_us = clock_us() - conn->started_us;
	conn->report.verdict = EGRESS_ALLOWED;
	tell(conn, EGRESS_DECIDED);
	enter(conn, conn->rule->tls ? CONN_ANSWER : CONN_MOVE, IDLE_MS);
	if (conn->rule->tls)
		await_answer(conn);
	else if (conn->is_connect && send(conn->in.fd, well, sizeof(well) - 1, MSG_NOSIGNAL) < 0)
		finish(conn, EGRESS_WHY_NONE, true);
	else
		move_both(conn);
}

/* ---- connecting ------------------------------------------------------------------------------- */

static void on_out(struct loop_io *io, uint32_t events);

/* Never looks the name up again: what is connected to is what was checked. */
static void try_next(struct conn *conn)
{
	const int one = 1;
	struct sockaddr_storage to;

	close_io(conn, &conn->out, false);
	while (conn->list_next < conn->list_count) {
		const struct address *address = &conn->list[conn->list_next++];
		socklen_t len = address_socket(address, (uint16_t)conn->report.port, &to);

		conn->out = (struct loop_io){
			socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), 0,
			on_out
		};
		if (conn->out.fd < 0)
			continue;
		(void)setsockopt(conn->out.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		/* Urgent bytes of a server are bytes like others. */
		(void)setsockopt(conn->out.fd, SOL_SOCKET, SO_OOBINLINE, &one, sizeof(one));
		address_write(address, conn->report.address);
		if (connect(conn->out.fd, (const struct sockaddr *)&to, len) == 0 ||
			errno == EINPROGRESS) {
			want(conn, &conn->out, EPOLLOUT);
			return;
		}
		close_io(conn, &conn->out, false);
	}
	refuse(conn, EGRESS_FAILED, EGRESS_WHY_CONNECT);
}

static void on_out(struct loop_io *io, uint32_t events)
{
	struct conn *conn = container_of(io, struct conn, out);
	int error = 0;
	socklen_t len = sizeof(error);

	if (conn->state == CONN_MOVE)
		move_both(conn);
	else if (conn->state == CONN_ANSWER)
		await_answer(conn);
	else if (conn->state == CONN_AGAIN)
		pass_answer(conn);
	if (conn->state != CONN_CONNECT)
		return;
	if (getsockopt(io->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0 || error)
		try_next(conn);
	else if (events & EPOLLOUT)
		begin_moving(conn);
}

static void on_found(void *context, const struct address *list, size_t count)
{
	struct conn *conn = context;

	conn->is_looking = false;
	if (conn->state == CONN_OVER)
		return;
	for (size_t i = 0; i < count; i++)
		if (!address_is_closed(&list[i], (uint16_t)conn->report.port))
			conn->list[conn->list_count++] = list[i];
	if (conn->list_count == 0) {
		if (count > 0)
			address_write(&list[0], conn->report.address);
		refuse(conn, count ? EGRESS_DENIED : EGRESS_FAILED,
			count ? EGRESS_WHY_CLOSED_ADDRESS : EGRESS_WHY_LOOKUP);
		return;
	}
	enter(conn, CONN_CONNECT, CONNECT_MS);
	try_next(conn);
}

/* Below a pattern the program chooses the name, which resolvers and their owners see: it sends that. */
static bool count_name(struct conn *conn)
{
	const size_t len = conn->rule->host[0] == '*' ? strlen(conn->report.host) : 0;
	struct run *run = conn->run;

	if (run->up + len > run->rules.up_bytes)
		return false;
	run->up += len;
	conn->name_bytes = len;
	return true;
}

static void find(struct conn *conn)
{
	struct address address;

	want(conn, &conn->in, 0);
	enter(conn, CONN_LOOKUP, LOOKUP_MS);
	if (address_read(conn->report.host, &address)) {
		on_found(conn, &address, 1);
		return;
	}
	if (!count_name(conn)) {
		refuse(conn, EGRESS_LIMIT, EGRESS_WHY_UP_BYTES);
		return;
	}
	conn->is_looking = true;
	names_find(conn->run->egress->names, conn->report.host, on_found, conn);
}

/* ---- what the program sends first --------------------------------------------------- */

/*
 * The bytes that were looked at are those that are sent.  In the socket they may be pages of a file, which
 * the program can still write to.
 */
static bool keep_first(struct conn *conn, const char *bytes, size_t len)
{
	char *first = malloc(len);

	if (!first || recv(conn->in.fd, first, len, 0) != (ssize_t)len) {
		free(first);
		return false;
	}
	memcpy(first, bytes, len);
	free(conn->head);
	conn->up.first = conn->head = first;
	conn->up.first_len = len;
	return true;
}

/* True: it names the server of the rule, and is kept.  Else *ret_why; *ret_gone: the program said nothing. */
static bool take_hello(struct conn *conn, bool again, enum egress_why *ret_why, bool *ret_gone)
{
	static const enum egress_why whys[] = { [HELLO_NAMED] = EGRESS_WHY_SERVER_NAME,
		[HELLO_UNNAMED] = EGRESS_WHY_NO_SERVER_NAME,
		[HELLO_HIDDEN] = EGRESS_WHY_HIDDEN_NAME,
		[HELLO_NONE] = EGRESS_WHY_NOT_TLS };
	static uint8_t bytes[HELLO_MAX];
	char name[EGRESS_HOST_MAX] = "";
	size_t len = 0;
	ssize_t got = look(conn, conn->in.fd, bytes, sizeof(bytes));
	enum hello found = HELLO_NONE;

	*ret_gone = got < 0 && !conn->peeked;
	*ret_why = EGRESS_WHY_NONE;
	if (got > 0)
		found = (again ? hello_read_again : hello_read)(bytes, (size_t)got, name, &len);
	if (got == 0 || found == HELLO_MORE)
		return false;
	looked(conn, conn->in.fd);
	if (found == HELLO_NAMED)
		memcpy(conn->report.sni, name, sizeof(name));
	*ret_why = whys[found];
	if (found != HELLO_NAMED || strcmp(name, conn->report.host) != 0)
		return false;
	*ret_why = EGRESS_WHY_MEMORY;
	return keep_first(conn, (const char *)bytes, len);
}

static void read_hello(struct conn *conn)
{
	enum egress_why why;
	bool is_gone;

	if (take_hello(conn, false, &why, &is_gone))
		find(conn);
	else if (why != EGRESS_WHY_NONE)
		refuse(conn, why == EGRESS_WHY_MEMORY ? EGRESS_FAILED : EGRESS_DENIED, why);
}

static void read_second_hello(struct conn *conn)
{
	enum egress_why why;
	bool is_gone;

	if (take_hello(conn, true, &why, &is_gone)) {
		enter(conn, CONN_MOVE, IDLE_MS);
		move_both(conn);
	} else if (why != EGRESS_WHY_NONE) {
		finish(conn, is_gone ? EGRESS_WHY_NONE : why, true);
	}
}

static void await_hello(struct conn *conn)
{
	enter(conn, CONN_HELLO, HELLO_MS);
	want(conn, &conn->in, EPOLLIN);
}

/* Takes the head out of the socket and decides where it leads. */
static void take_request(
	struct conn *conn, const char *bytes, const struct request_target *target, bool is_url)
{
	char *head = malloc(target->len + 1);

	if (!head || recv(conn->in.fd, head, target->len, 0) != (ssize_t)target->len) {
		free(head);
		refuse(conn, EGRESS_FAILED, EGRESS_WHY_MEMORY);
		return;
	}
	free(head);
	memcpy(conn->report.host, target->host, sizeof(target->host));
	conn->report.port = target->port;
	conn->rule = run_rule_of_host(conn->run, target->host, target->port);
	conn->is_connect = !is_url;
	if (!conn->rule) {
		refuse(conn, EGRESS_DENIED, EGRESS_WHY_RULE);
		return;
	}
	if (is_url && conn->rule->tls) {
		refuse(conn, EGRESS_DENIED, EGRESS_WHY_NOT_TLS);
		return;
	}
	if (is_url) {
		conn->up.first = conn->head = malloc(HEAD_BYTES);
		if (conn->head)
			conn->up.first_len =
				request_head_rewrite(bytes, target, conn->head, HEAD_BYTES);
		if (!conn->up.first_len) {
			refuse(conn, EGRESS_FAILED, EGRESS_WHY_MEMORY);
			return;
		}
	}
	if (!conn->rule->tls) {
		find(conn);
		return;
	}
	(void)send(conn->in.fd, well, sizeof(well) - 1, MSG_NOSIGNAL);
	await_hello(conn);
}

static void read_head(struct conn *conn)
{
	static char bytes[REQUEST_HEAD_MAX + 1];
	struct request_target target;
	ssize_t got = look(conn, conn->in.fd, bytes, REQUEST_HEAD_MAX);
	enum request_head head;

	if (got == 0)
		return;
	if (got < 0) {
		refuse(conn, EGRESS_DENIED, EGRESS_WHY_REQUEST);
		return;
	}
	bytes[got] = '\0';
	head = request_head_read(bytes, (size_t)got, &target);
	if (head == HEAD_MORE)
		return;
	looked(conn, conn->in.fd);
	if (head == HEAD_BAD) {
		(void)recv(conn->in.fd, bytes, (size_t)got, 0); /* so that the answer is read */
		refuse(conn, EGRESS_DENIED, EGRESS_WHY_REQUEST);
		return;
	}
	bytes[target.len] = '\0';
	take_request(conn, bytes, &target, head == HEAD_URL);
}

static void on_in(struct loop_io *io, uint32_t events)
{
	struct conn *conn = container_of(io, struct conn, in);

	conn->heard_ms = clock_ms();
	switch (conn->state) {
	case CONN_HEAD:
		read_head(conn);
		return;
	case CONN_HELLO:
		read_hello(conn);
		return;
	case CONN_MOVE:
		move_both(conn);
		return;
	case CONN_AGAIN:
		if (events & EPOLLOUT)
			pass_answer(conn);
		if (conn->state == CONN_AGAIN && events & ~(uint32_t)EPOLLOUT)
			read_second_hello(conn);
		return;
	case CONN_ANSWER: /* nothing is waited for */
	case CONN_OVER:
		return;
	case CONN_LOOKUP:
	case CONN_CONNECT:
		/* it is not waited for here: the program has reset it */
		refuse(conn, EGRESS_FAILED, EGRESS_WHY_NONE);
		return;
	}
}

/* ---- its life -------------------------------------------------------------------------------- */

/* Which address and port the program connected to, and so which rule. */
static void find_meaning(struct conn *conn)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	socklen_t len = sizeof(in);
	struct address address;

	(void)getsockname(conn->in.fd, (struct sockaddr *)&in, &len);
	conn->report.port = ntohs(in.sin_port);
	address = address_of_v4(in.sin_addr);
	address_write(&address, conn->report.host);
	if (conn->report.port == RUN_PROXY_PORT && conn->run->rules.rules[0].proxy &&
		in.sin_addr.s_addr == htonl(INADDR_LOOPBACK)) {
		conn->report.way = EGRESS_BY_PROXY;
		return;
	}
	conn->rule = run_rule_of_address(
		conn->run, ntohl(in.sin_addr.s_addr), (uint16_t)conn->report.port);
	if (conn->rule)
		memcpy(conn->report.host, conn->rule->host, sizeof(conn->report.host));
}

static void begin(struct conn *conn)
{
	struct run *run = conn->run;

	if (run->connections > run->rules.connections) {
		refuse(conn, EGRESS_LIMIT, EGRESS_WHY_CONNECTIONS);
	} else if (run->at_once > run->rules.at_once) {
		refuse(conn, EGRESS_LIMIT, EGRESS_WHY_AT_ONCE);
	} else if (conn->report.way == EGRESS_BY_PROXY) {
		enter(conn, CONN_HEAD, HEAD_MS);
		want(conn, &conn->in, EPOLLIN);
	} else if (!conn->rule) {
		refuse(conn, EGRESS_DENIED, EGRESS_WHY_RULE);
	} else if (conn->rule->tls) {
		await_hello(conn);
	} else {
		find(conn);
	}
}

int conn_start(struct run *run, int fd)
{
	const int one = 1;
	struct conn *conn = calloc(1, sizeof(*conn));

	if (!conn) {
		close(fd);
		return -1;
	}
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	/* It leads to a loopback: BBR, where the host has set it, would hold packets back there. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", strlen("reno"));
	conn->run = run;
	conn->in = (struct loop_io){ fd, 0, on_in };
	conn->out = (struct loop_io){ -1, 0, on_out };
	conn->started_us = clock_us();
	conn->heard_ms = clock_ms();
	conn->report.run = run->rules.run;
	run->connections++;
	run->at_once++;
	list_append(&run->conns, &conn->link);
	find_meaning(conn);
	begin(conn);
	return 0;
}

void conn_tick(struct conn *conn)
{
	if (clock_ms() < conn->deadline_ms)
		return;
	if (conn->state >= CONN_ANSWER)
		finish(conn, EGRESS_WHY_TIMEOUT, true);
	else
		refuse(conn, EGRESS_FAILED, EGRESS_WHY_TIMEOUT);
}

/* Whether the program's next byte or its end is what it waits for. */
static bool awaits_program(const struct conn *conn)
{
	const struct conn_flow *up = &conn->up;

	if (conn->state == CONN_MOVE)
		return !up->is_full && !up->ended && !up->pipe && !up->first_len;
	return conn->state == CONN_HEAD || conn->state == CONN_HELLO || conn->state == CONN_AGAIN;
}

void conn_drain(struct conn *conn)
{
	const int64_t heard_ms = conn->heard_ms;
	const enum conn_state state = conn->state;

	if (state == CONN_MOVE) {
		move_last(conn);
	} else if (awaits_program(conn) && !conn->peeked) {
		/*
		 * What has come since the last turn.  Of a first part, the kernel tells when there is more
		 * (SO_RCVLOWAT), and to look at it twice means that no more comes.
		 */
		on_in(&conn->in, EPOLLIN);
		if (conn->state == state && !conn->peeked)
			conn->heard_ms = heard_ms;
	}
}

bool conn_is_silent(const struct conn *conn)
{
	return awaits_program(conn) && clock_ms() - conn->heard_ms >= SILENT_MS &&
	       (conn->state != CONN_MOVE || server_has_all(conn));
}

void conn_end(struct conn *conn)
{
	if (conn->state < CONN_ANSWER) {
		refuse(conn, EGRESS_FAILED, EGRESS_WHY_NONE);
		return;
	}
	finish(conn, EGRESS_WHY_NONE, true);
}

bool conn_is_done(const struct conn *conn)
{
	return !conn->is_looking;
}
