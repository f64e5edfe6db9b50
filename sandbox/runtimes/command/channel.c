#include "sandbox/runtimes/command/channel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int channel_complain(const char *program, int status, const char *what)
{
	(void)fprintf(stderr, "%s: %s\n", program, what);
	return status;
}

/* ---- bytes ---------------------------------------------------------------------------------- */

static int send_all(int fd, const char *bytes, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t sent = send(fd, bytes + at, len - at, MSG_NOSIGNAL);

		if (sent < 0 && errno != EINTR)
			return -1;
		at += sent > 0 ? (size_t)sent : 0;
	}
	return 0;
}

/* How many bytes came before the end or `len`. */
static size_t read_upto(int fd, char *bytes, size_t len)
{
	size_t have = 0;

	while (have < len) {
		ssize_t got = read(fd, bytes + have, len - have);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		have += (size_t)got;
	}
	return have;
}

int channel_write(
	struct channel_message *message, const char *name, const char *text, int fd, size_t most)
{
	size_t name_len = strlen(name) + 1;
	size_t room = text ? strlen(text) : most + 1;
	char *body = malloc(name_len + room + 1);

	if (!body)
		return -1;
	memcpy(body, name, name_len);
	if (text)
		memcpy(body + name_len, text, room);
	else
		room = read_upto(fd, body + name_len, room);
	message->body = body;
	message->len = name_len + room;
	return room <= most ? 0 : -1;
}

/* ---- the channel ---------------------------------------------------------------------------- */

/* -1: there is none; EBADF or ENOTSOCK says that there is no socket either. */
static int take_channel(int queue)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	const struct cmsghdr *head;
	ssize_t got;
	int fd = -1;

	do
		got = recvmsg(queue, &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got == 0)
		errno = ECONNRESET;
	head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	return fd;
}

/* Whoever was there has closed the channel, or never was. */
static int complain_alone(const char *program, enum job_kind kind)
{
	return channel_complain(program, CHANNEL_NOBODY,
		kind == JOB_CALL ? "nobody is there to answer"
				 : "nobody takes it: is it larger than the limit display_bytes?");
}

static int show_answer(const char *program, enum job_kind kind, int channel)
{
	struct job_head head;
	char *body;
	FILE *out;

	if (read_upto(channel, (char *)&head, sizeof(head)) < sizeof(head) ||
		head.magic != SLOTMSG_MAGIC || head.len > SLOTMSG_BODY_MAX)
		return complain_alone(program, kind);
	body = malloc((size_t)head.len + 1);
	if (!body || read_upto(channel, body, head.len) < head.len)
		return channel_complain(program, CHANNEL_NOBODY, "no whole answer came");
	body[head.len] = '\n';
	out = head.kind == JOB_RETURN ? stdout : stderr;
	if (head.len && (fwrite(body, 1, (size_t)head.len + 1, out) < (size_t)head.len + 1 ||
				fflush(out) != 0))
		return channel_complain(program, CHANNEL_NOBODY, "the answer cannot be written");
	return head.kind == JOB_RETURN ? CHANNEL_RESULT : CHANNEL_ERROR;
}

int channel_ask(const char *program, const struct channel_message *message)
{
	const struct job_head head = { .magic = SLOTMSG_MAGIC,
		.kind = message->kind,
		.exit_code = 1,
		.len = (uint32_t)message->len };
	const char *named = getenv(CHANNEL_ENV);
	int queue = named ? (int)strtol(named, NULL, 10) : CHANNEL_FD_SESSION;
	int channel = take_channel(queue);

	if (channel < 0 && (errno == EBADF || errno == ENOTSOCK))
		return channel_complain(program, CHANNEL_NOBODY,
			message->kind == JOB_CALL ? "no tools are offered here"
						  : "nobody asked for what is displayed here");
	if (channel < 0 || send_all(channel, (const char *)&head, sizeof(head)) < 0 ||
		send_all(channel, message->body, message->len) < 0)
		return complain_alone(program, message->kind);
	return show_answer(program, message->kind, channel);
}
