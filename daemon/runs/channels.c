#include "daemon/runs/channels.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/base/buf.h"
#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "proto/base/list.h"

#define READ_BYTES 4096

struct channel {
	struct list link;
	struct channels *channels;
	uint64_t id;
	struct watch *watch;
	bool is_spare;   /* nothing has come from it */
	bool called;     /* its one message has come */
	size_t reserved; /* of what may be displayed at a time */
	struct buf incoming, outgoing;
	size_t outgoing_at;
};

struct channels {
	uv_loop_t *loop;
	int queue_fd;
	struct channels_events events;
	struct channels_bounds bounds;
	size_t reserved; /* by what is being displayed */
	unsigned left;   /* that may still be made */
	unsigned open, spare;
	uint64_t last_id;
	struct list all;
};

static void top_up(struct channels *channels);

static void channel_close(struct channel *channel)
{
	struct channels *channels = channel->channels;

	channels->open--;
	channels->spare -= channel->is_spare;
	channels->reserved -= channel->reserved;
	list_remove(&channel->link);
	watch_close(channel->watch);
	buf_done(&channel->incoming);
	buf_done(&channel->outgoing);
	free(channel);
}

/* ---- bytes ---------------------------------------------------------------------------------- */

static void send_rest(struct channel *channel)
{
	size_t left = channel->outgoing.len - channel->outgoing_at;
	ssize_t sent = send(watch_fd(channel->watch),
		channel->outgoing.bytes + channel->outgoing_at, left, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (sent < 0 && (errno == EAGAIN || errno == EINTR))
		sent = 0;
	channel->outgoing_at += sent > 0 ? (size_t)sent : 0;
	if (sent < 0 || channel->outgoing_at == channel->outgoing.len)
		channel_close(channel);
	else
		watch_want(channel->watch, UV_WRITABLE);
}

/* Whether a message of this head may come.  What is displayed has its place from here on. */
static bool admit(struct channel *channel, const struct job_head *head)
{
	struct channels *channels = channel->channels;

	if (head->magic != SLOTMSG_MAGIC)
		return false;
	if (head->kind == JOB_CALL)
		return channels->bounds.call_bytes && head->len <= channels->bounds.call_bytes;
	if (head->kind != JOB_DISPLAY || channel->reserved)
		return head->kind == JOB_DISPLAY;
	if (head->len > channels->bounds.display_bytes - channels->reserved)
		return false;
	channel->reserved = head->len;
	channels->reserved += head->len;
	return true;
}

/* Passes the message on when it is complete.  False: what came is none. */
static bool take_message(struct channel *channel)
{
	const struct channels_events *events = &channel->channels->events;
	const char *body = channel->incoming.bytes + sizeof(struct job_head);
	struct job_head head;

	if (channel->incoming.len < sizeof(head))
		return true;
	memcpy(&head, channel->incoming.bytes, sizeof(head));
	if (!admit(channel, &head))
		return false;
	if (channel->incoming.len < sizeof(head) + head.len)
		return true;
	channel->called = true;
	watch_want(channel->watch, 0); /* until there is an answer */
	if (head.kind == JOB_CALL)
		events->call(events->owner, channel->id, head.exit_code, body, head.len);
	else
		events->display(events->owner, channel->id, body, head.len);
	return true;
}

/* False: its process has left. */
static bool read_some(struct channel *channel)
{
	struct buf *incoming = &channel->incoming;
	ssize_t got;

	if (buf_reserve(incoming, READ_BYTES) < 0)
		return false;
	got = read(watch_fd(channel->watch), incoming->bytes + incoming->len,
		incoming->size - incoming->len);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (got <= 0)
		return false;
	incoming->len += (size_t)got;
	return true;
}

/* A spare channel whose end nobody holds any more was taken by a process that is gone. */
static void on_channel(void *owner, int events)
{
	struct channel *channel = owner;
	struct channels *channels = channel->channels;

	if (channel->outgoing.len) {
		send_rest(channel);
		return;
	}
	if (!(events & UV_READABLE) || channel->called)
		return;
	if (!read_some(channel)) {
		channel_close(channel);
	} else if (channel->is_spare) {
		channel->is_spare = false;
		channels->spare--;
	}
	top_up(channels);
	list_for_each(at, &channels->all) { /* it may be closed by now */
		if (at != &channel->link)
			continue;
		if (!take_message(channel))
			channel_close(channel);
		return;
	}
}

/* ---- making them ---------------------------------------------------------------------------- */

static size_t most_bytes(const struct channels_bounds *bounds)
{
	size_t body = bounds->call_bytes > bounds->display_bytes ? bounds->call_bytes
								 : bounds->display_bytes;

	return sizeof(struct job_head) + body + READ_BYTES;
}

static int add_channel(struct channels *channels)
{
	struct channel *channel;
	struct err err = ERR_INIT;
	int ends[2];
	ssize_t sent;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	channel = calloc(1, sizeof(*channel));
	sent = channel && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0
		       ? send_with_fds(channels->queue_fd, ".", 1, &ends[1], 1, &err)
		       : -1;
	close(ends[1]);
	if (sent < 1) {
		close(ends[0]);
		free(channel);
		return -1;
	}
	channel->channels = channels;
	channel->id = ++channels->last_id;
	channel->is_spare = true;
	buf_init(&channel->incoming, most_bytes(&channels->bounds));
	channel->watch = watch_new(channels->loop, ends[0], UV_READABLE, on_channel, channel);
	if (!channel->watch) {
		free(channel);
		return -1;
	}
	list_append(&channels->all, &channel->link);
	channels->open++;
	channels->spare++;
	channels->left--;
	return 0;
}

static void top_up(struct channels *channels)
{
	while (channels->spare < CHANNELS_SPARE && channels->open < channels->bounds.at_once &&
		channels->left > 0)
		if (add_channel(channels) < 0)
			return; /* tried again at the next event */
}

struct channels *channels_start(uv_loop_t *loop, int queue_fd, const struct channels_events *events,
	const struct channels_bounds *bounds)
{
	struct channels *channels = calloc(1, sizeof(*channels));

	if (!channels)
		return NULL;
	channels->loop = loop;
	channels->queue_fd = queue_fd;
	channels->events = *events;
	channels->bounds = *bounds;
	channels->bounds.at_once += CHANNELS_SPARE;
	channels->left = bounds->in_all;
	list_init(&channels->all);
	top_up(channels);
	return channels;
}

void channels_answer(struct channels *channels, uint64_t id, enum job_kind kind, int32_t number,
	const char *body, size_t len)
{
	const struct job_head head = {
		.magic = SLOTMSG_MAGIC, .kind = kind, .len = (uint32_t)len, .exit_code = number
	};

	list_for_each(at, &channels->all) {
		struct channel *channel = container_of(at, struct channel, link);

		if (channel->id != id || channel->outgoing.len)
			continue;
		buf_init(&channel->outgoing, sizeof(head) + len);
		if (buf_append(&channel->outgoing, &head, sizeof(head)) < 0 ||
			buf_append(&channel->outgoing, body, len) < 0)
			channel_close(channel);
		else
			send_rest(channel);
		top_up(channels);
		return;
	}
}

void channels_close(struct channels *channels)
{
	if (!channels)
		return;
	list_for_each(at, &channels->all)
		channel_close(container_of(at, struct channel, link));
	free(channels);
}
