/*
 * ced-call NAME [JSON | -]: calls a tool of the client that started the run, from a shell.
 *
 * The arguments are a JSON document on the command line, or on stdin (-), or {}.  The result goes to
 * stdout, as JSON.  An error goes to stderr as JSON {code, message, data?}.
 *
 * It takes a stream of its own from the socket that CED_CALLS_FD names (daemon/runs/channels.h).
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/internal/slotmsg.h"

#define ARGS_MAX ((size_t)8 << 20)

enum status {
	STATUS_RESULT = 0,
	STATUS_ERROR = 1,
	STATUS_USAGE = 64,
	STATUS_NOBODY = 69,
};

static int complain(enum status status, const char *what)
{
	(void)fprintf(stderr, "ced-call: %s\n", what);
	return (int)status;
}

/* -1: there is none. */
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
	head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	return fd;
}

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

/* "name", NUL, the arguments.  NULL: there is no memory, or too much on stdin. */
static char *make_body(const char *name, const char *args, size_t *ret_len)
{
	bool is_piped = args && strcmp(args, "-") == 0;
	size_t name_len = strlen(name) + 1;
	size_t room = is_piped ? ARGS_MAX : strlen(args ? args : "{}");
	char *body = malloc(name_len + room);

	if (!body)
		return NULL;
	memcpy(body, name, name_len);
	if (is_piped)
		room = read_upto(STDIN_FILENO, body + name_len, room);
	else
		memcpy(body + name_len, args ? args : "{}", room);
	*ret_len = name_len + room;
	return room < ARGS_MAX ? body : NULL;
}

static int show_answer(int channel)
{
	struct job_head head;
	char *body;
	FILE *out;

	if (read_upto(channel, (char *)&head, sizeof(head)) < sizeof(head) ||
		head.magic != SLOTMSG_MAGIC || head.len > SLOTMSG_BODY_MAX)
		return complain(STATUS_NOBODY, "no answer came");
	body = malloc((size_t)head.len + 1);
	if (!body || read_upto(channel, body, head.len) < head.len)
		return complain(STATUS_NOBODY, "no whole answer came");
	body[head.len] = '\n';
	out = head.kind == JOB_RETURN ? stdout : stderr;
	if (fwrite(body, 1, (size_t)head.len + 1, out) < (size_t)head.len + 1 || fflush(out) != 0)
		return complain(STATUS_NOBODY, "the answer cannot be written");
	return head.kind == JOB_RETURN ? STATUS_RESULT : STATUS_ERROR;
}

int main(int argc, char **argv)
{
	struct job_head head = { .magic = SLOTMSG_MAGIC, .kind = JOB_CALL, .exit_code = 1 };
	const char *queue = getenv("CED_CALLS_FD");
	size_t len = 0;
	char *body;
	int channel;

	if (argc < 2 || argc > 3)
		return complain(STATUS_USAGE, "it is called as ced-call NAME [JSON | -]");
	if (!queue)
		return complain(STATUS_NOBODY, "this run has no tools");
	body = make_body(argv[1], argv[2], &len);
	if (!body)
		return complain(STATUS_USAGE, "the arguments are too long");
	channel = take_channel((int)strtol(queue, NULL, 10));
	if (channel < 0)
		return complain(STATUS_NOBODY, "nobody is there to answer");
	head.len = (uint32_t)len;
	if (send_all(channel, (const char *)&head, sizeof(head)) < 0 ||
		send_all(channel, body, len) < 0)
		return complain(STATUS_NOBODY, "nobody is there to answer");
	return show_answer(channel);
}
