#include "cli/mcp/link.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/base/client.h"
#include "proto/wire/rpc.h"

#define MESSAGE_MAX ((size_t)512 << 20) /* what the daemon may answer with */
#define UNSENT_MAX  ((size_t)256 << 20)
#define HELLO_BYTES ((size_t)64 << 10)

/* connect() stops the loop, and with it the answers to all else. */
#define CONNECT_MS INT64_C(250)

void link_init(struct link *link, const char *path, const struct link_watch *watch)
{
	*link = (struct link){ .path = path, .watch = *watch, .fd = -1, .next_id = 1 };
	buf_init(&link->out, UNSENT_MAX);
}

/* Forgets the connection, with all that was not sent or read. */
static void drop(struct link *link)
{
	if (link->fd < 0)
		return;
	close(link->fd);
	link->fd = -1;
	frame_done(&link->frame);
	buf_done(&link->out);
}

void link_done(struct link *link)
{
	drop(link);
	buf_done(&link->out);
}

static void lose(struct link *link, const struct err *why)
{
	drop(link);
	link->watch.on_lost(link->watch.context, why);
}

/* ---- asking -------------------------------------------------------------------------------- */

/* `hello` says who asks, for the daemon's log; nobody waits for its answer. */
static int write_hello(struct link *link, struct err *err)
{
	struct arena arena;
	struct value *params;
	int status;

	arena_init(&arena, HELLO_BYTES);
	params = value_map(&arena);
	value_map_put(&arena, params, "client",
		value_text(&arena, link->name ? link->name : "cectl mcp"));
	if (!value_ok(&arena))
		status = err_set(err, ERR_MEMORY, "no memory");
	else
		status = rpc_write_request(&link->out, link->next_id++, "hello", params, err);
	arena_done(&arena);
	return status;
}

static int connect_again(struct link *link, struct err *err)
{
	int fd = client_connect(link->path, CONNECT_MS, err);

	if (fd < 0)
		return -1;
	link->fd = fd;
	frame_init(&link->frame, MESSAGE_MAX, WIRE_DEPTH_MAX);
	buf_init(&link->out, UNSENT_MAX);
	if (write_hello(link, err) == 0)
		return 0;
	drop(link);
	return -1;
}

int link_ask(struct link *link, const char *method, const struct value *params, uint32_t *ret_id,
	struct err *err)
{
	if (link->fd < 0 && connect_again(link, err) < 0)
		return -1;
	if (rpc_write_request(&link->out, link->next_id, method, params, err) < 0)
		return -1;
	*ret_id = link->next_id++;
	return 0;
}

/* ---- the socket ---------------------------------------------------------------------------- */

int link_fd(const struct link *link)
{
	return link->fd;
}

short link_events(const struct link *link)
{
	return link->out.len > 0 ? POLLIN | POLLOUT : POLLIN;
}

size_t link_unsent(const struct link *link)
{
	return link->out.len;
}

/*
 * A daemon that refuses a message closes the connection behind its answer.  So a failure to send is
 * no end: what can still be read says why.
 */
static void send_some(struct link *link)
{
	ssize_t sent = send(link->fd, link->out.bytes, link->out.len, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (sent > 0)
		buf_consume(&link->out, (size_t)sent);
	else if (errno != EAGAIN && errno != EINTR)
		buf_consume(&link->out, link->out.len);
}

/* 1: something came; 0: nothing now; -1: the connection is over. */
static int read_some(struct link *link, struct err *err)
{
	size_t size = 0;
	char *room = frame_room(&link->frame, &size);
	ssize_t got;

	if (!room)
		return err_set(err, ERR_MEMORY, "no memory for the daemon's answer");
	got = recv(link->fd, room, size, MSG_DONTWAIT);
	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (got < 0)
		return err_sys(err, "the connection to the daemon broke");
	if (got == 0)
		return err_set(err, ERR_CLOSED, "the daemon closed the connection");
	frame_filled(&link->frame, (size_t)got);
	return 1;
}

/* Passes on whole messages.  A callback may close the link. */
static int pass_messages(struct link *link, struct err *err)
{
	while (link->fd >= 0) {
		auto_free char *bytes = NULL;
		size_t len = 0;
		int status = frame_next(&link->frame, &bytes, &len, err);

		if (status <= 0)
			return status;
		if (link->watch.on_message(link->watch.context, bytes, len, err) < 0)
			return err_wrap(err, "the daemon's answer");
	}
	return 0;
}

void link_turn(struct link *link, short events)
{
	struct err err = ERR_INIT;
	int status = 0;

	if (link->fd < 0)
		return;
	if ((events & POLLOUT) && link->out.len > 0)
		send_some(link);
	if (events & (POLLIN | POLLHUP | POLLERR))
		status = read_some(link, &err);
	if (status > 0)
		status = pass_messages(link, &err);
	if (status < 0)
		lose(link, &err);
}
