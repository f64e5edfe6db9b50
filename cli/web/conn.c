#include "cli/web/conn.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/web/answer.h"
#include "proto/base/arena.h"
#include "proto/base/clock.h"

#define HEAD_MS   5000  /* from the connection to the end of its head */
#define ASKED_MS  60000 /* for the daemon */
#define ANSWER_MS 60000 /* to read an answer */
#define ENDING_MS 2000
#define STREAM_MS 600000 /* between two moments in which a stream has read all */

#define OUT_MAX       (ANSWER_BYTES_MAX + ((size_t)64 << 10))
#define STREAM_UNSENT ((size_t)512 << 10) /* past it, a stream misses events */
#define EVENT_BYTES   ((size_t)4 << 10)

#define TO(state) (1U << (unsigned)(state))

static const struct {
	unsigned next;
	int64_t most_ms;
} states[] = {
	[CONN_HEAD] = { TO(CONN_ASKED) | TO(CONN_ANSWER) | TO(CONN_STREAM), HEAD_MS },
	[CONN_ASKED] = { TO(CONN_ANSWER), ASKED_MS },
	[CONN_ANSWER] = { TO(CONN_ENDING), ANSWER_MS },
	[CONN_STREAM] = { 0, STREAM_MS },
	[CONN_ENDING] = { 0, ENDING_MS },
};

struct conn *conn_new(int fd)
{
	struct conn *conn = calloc(1, sizeof(*conn));

	if (!conn) {
		(void)close(fd);
		return NULL;
	}
	conn->fd = fd;
	conn->until_ms = clock_ms() + states[CONN_HEAD].most_ms;
	buf_init(&conn->out, OUT_MAX);
	return conn;
}

void conn_free(struct conn *conn)
{
	if (!conn)
		return;
	(void)close(conn->fd);
	buf_done(&conn->out);
	free(conn);
}

void conn_move(struct conn *conn, enum conn_state next)
{
	assert(states[conn->state].next & TO(next));
	conn->state = next;
	conn->until_ms = clock_ms() + states[next].most_ms;
}

short conn_events(const struct conn *conn)
{
	switch (conn->state) {
	case CONN_HEAD:
	case CONN_ENDING:
		return POLLIN;
	case CONN_ANSWER:
		return POLLOUT;
	case CONN_STREAM:
		return (short)(POLLIN | (conn->out.len > 0 ? POLLOUT : 0));
	case CONN_ASKED:
		break;
	}
	return 0;
}

int conn_read(struct conn *conn)
{
	char unwanted[4096];
	bool keeps = conn->state == CONN_HEAD;
	char *to = keeps ? conn->head + conn->head_len : unwanted;
	size_t room = keeps ? REQUEST_HEAD_MAX - conn->head_len : sizeof(unwanted);
	ssize_t len = recv(conn->fd, to, room, MSG_DONTWAIT);

	if (len < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	if (len == 0)
		return -1;
	if (keeps)
		conn->head_len += (size_t)len;
	return 0;
}

/* What a stream missed, now that it reads again. */
static void put_missed(struct conn *conn)
{
	struct arena arena;
	struct value *event;

	arena_init(&arena, EVENT_BYTES);
	event = value_map(&arena);
	(void)value_map_put(&arena, event, "kind", value_text(&arena, "missed"));
	(void)value_map_put(&arena, event, "at_us", value_int(&arena, clock_wall_us()));
	(void)value_map_put(&arena, event, "count", value_uint(&arena, conn->missed));
	if (value_ok(&arena) && answer_event(&conn->out, event) == 0)
		conn->missed = 0;
	arena_done(&arena);
}

static void all_sent(struct conn *conn)
{
	if (conn->state == CONN_STREAM) {
		conn->until_ms = clock_ms() + STREAM_MS;
		if (conn->missed)
			put_missed(conn);
		return;
	}
	buf_done(&conn->out);
	(void)shutdown(conn->fd, SHUT_WR);
	conn_move(conn, CONN_ENDING);
}

int conn_write(struct conn *conn)
{
	ssize_t len = send(conn->fd, conn->out.bytes + conn->sent, conn->out.len - conn->sent,
		MSG_DONTWAIT | MSG_NOSIGNAL);

	if (len < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	conn->sent += (size_t)len;
	/* An answer may be long, and is not moved for each piece. */
	if (conn->sent == conn->out.len ||
		(conn->state == CONN_STREAM && conn->sent > STREAM_UNSENT)) {
		buf_consume(&conn->out, conn->sent);
		conn->sent = 0;
	}
	if (conn->out.len == 0)
		all_sent(conn);
	return 0;
}

/* One, or those that the daemon itself could not send to us. */
static uint64_t events_in(const struct value *event)
{
	const char *kind = value_as_text(value_get(event, "kind"));
	const bool is_missed = kind && strcmp(kind, "missed") == 0;

	return is_missed ? (uint64_t)value_as_int(value_get(event, "count"), 1) : 1;
}

void conn_event(struct conn *conn, const struct value *event)
{
	if (conn->missed || conn->out.len - conn->sent > STREAM_UNSENT ||
		answer_event(&conn->out, event) < 0)
		conn->missed += events_in(event);
}

void conn_alive(struct conn *conn)
{
	if (conn->out.len == 0)
		(void)buf_append_text(&conn->out, ":\n\n");
}
