/*
 * ced-inspector: receives rules, then programs, on its socket (descriptor 3), and sends findings.
 * It exits when the socket is closed, or at the first malformed message.
 *
 *	read RULES -> compile -> filter on -> READY -> (read CHECK -> WORKING ... -> FINDINGS) ...
 */
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/inspector/effort.h"
#include "daemon/inspector/filter.h"
#include "daemon/inspector/inspector.h"
#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"
#include "proto/base/log.h"

#define SOCKET_FD 3

/* Room for a head, the longest CHECK and a NUL. */
#define CHECK_ROOM (sizeof(struct inspect_head) + INSPECT_CHECK_MAX + 1)

static int read_head(uint32_t kind, struct inspect_head *ret_head, struct err *err)
{
	if (read_all(SOCKET_FD, ret_head, sizeof(*ret_head), err) < 0)
		return -1;
	return inspect_head_check(ret_head, 1U << kind, err);
}

static int read_rules(char **ret_body, size_t *ret_len, struct err *err)
{
	auto_free char *body = NULL;
	struct inspect_head head;

	if (read_head(INSPECT_RULES, &head, err) < 0)
		return -1;
	body = malloc(head.len + 1UL);
	if (!body)
		return err_set(err, ERR_MEMORY, "no memory for the rules");
	if (read_all(SOCKET_FD, body, head.len, err) < 0)
		return -1;
	*ret_body = take_ptr(body);
	*ret_len = head.len;
	return 0;
}

/* With send(), since the filter allows no call that could pass descriptors. */
static int send_out(struct buf *out, struct err *err)
{
	size_t sent = 0;

	while (sent < out->len) {
		ssize_t part = send(SOCKET_FD, out->bytes + sent, out->len - sent, MSG_NOSIGNAL);

		if (part < 0)
			return err_sys(err, "send");
		sent += (size_t)part;
	}
	out->len = 0;
	return 0;
}

static int send_ready(struct buf *out, const char *why_not, struct err *err)
{
	if (inspect_ready_encode(why_not, out, err) < 0)
		return -1;
	return send_out(out, err);
}

/* Reads one CHECK, with as few calls as possible.  Returns 1, or 0 at the end of the stream. */
static int read_check(char *bytes, struct inspect_head *ret_head, struct err *err)
{
	size_t have = 0;
	size_t want = sizeof(*ret_head);

	while (have < want) {
		ssize_t got = read(SOCKET_FD, bytes + have, CHECK_ROOM - 1 - have);

		if (got == 0 && have == 0)
			return 0;
		if (got <= 0)
			return err_set(err, ERR_CLOSED, "the daemon broke off");
		have += (size_t)got;
		if (want == sizeof(*ret_head) && have >= want) {
			memcpy(ret_head, bytes, sizeof(*ret_head));
			if (inspect_head_check(ret_head, 1U << INSPECT_CHECK, err) < 0)
				return -1;
			want += ret_head->len;
		}
	}
	/* One question at a time: the daemon waits for the answer before it sends the next. */
	if (have != want)
		return err_set(err, ERR_PROTOCOL, "more than one check at a time");
	bytes[have] = '\0';
	return 1;
}

/* Sends WORKING.  A broken socket is noticed when the answer is sent. */
static void on_beat(void *context)
{
	const uint32_t *id = context;
	struct inspect_head head = { INSPECT_MAGIC, INSPECT_WORKING, *id, 0 };

	(void)send(SOCKET_FD, &head, sizeof(head), MSG_NOSIGNAL);
}

static int answer_check(struct inspector *inspector, const struct inspect_head *head,
	const char *body, struct buf *out, struct err *err)
{
	struct inspect_findings findings;
	struct inspect_check check;
	struct effort effort;
	uint32_t id = head->id;

	if (inspect_check_decode(body, head->len, &check, err) < 0)
		return -1;
	effort_begin(&effort, INSPECT_LOOKS(check.code_len), INSPECT_CHECK_US, on_beat, &id);
	if (inspector_check(inspector, &check, &effort, &findings, err) < 0)
		return -1;
	if (inspect_findings_encode(head->id, &findings, out, err) < 0)
		return -1;
	return send_out(out, err);
}

static int serve_checks(struct inspector *inspector, char *bytes, struct buf *out, struct err *err)
{
	struct inspect_head head = { 0 };
	int r;

	while ((r = read_check(bytes, &head, err)) > 0)
		if (answer_check(inspector, &head, bytes + sizeof(head), out, err) < 0)
			return -1;
	return r;
}

static int inspector_run(struct err *err)
{
	auto_free char *body = NULL;
	auto_free char *bytes = malloc(CHECK_ROOM);
	struct inspector *inspector;
	struct buf out;
	size_t len = 0;
	int r;

	buf_init(&out, sizeof(struct inspect_head) + INSPECT_ANSWER_MAX);
	if (!bytes || buf_reserve(&out, out.ceiling) < 0)
		return err_set(err, ERR_MEMORY, "no memory to begin with");
	if (read_rules(&body, &len, err) < 0)
		return -1;
	inspector = inspector_new(body, len, err);
	if (!inspector || filter_load(err) < 0) {
		struct err ignored = ERR_INIT;

		(void)send_ready(&out, err->text, &ignored);
		inspector_free(inspector);
		buf_done(&out);
		return -1;
	}
	r = send_ready(&out, "", err);
	if (r == 0)
		r = serve_checks(inspector, bytes, &out, err);
	inspector_free(inspector);
	buf_done(&out);
	return r;
}

int main(void)
{
	struct err err = ERR_INIT;
	int status = EXIT_SUCCESS;

	log_start("ced-inspector", LOG_LEVEL_INFO);
	/* It was executed by descriptor, under a name that says nothing to readers of ps. */
	(void)prctl(PR_SET_NAME, "ced-inspector", 0, 0, 0);
	/* No core file for a handler of the host (core_pattern), even if a text crashes us. */
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (inspector_run(&err) < 0) {
		log_event(LOG_LEVEL_ERROR, "inspector.ended", LOG_STR("why", err.text));
		status = EXIT_FAILURE;
	}
	/* exit() would run handlers that need calls which the filter forbids. */
	_exit(status);
}
