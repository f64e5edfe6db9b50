#include "tests/unit/playing.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "proto/base/fdio.h"

#define PATIENCE_MS 30000

bool playing_pair(int type, int ends[2])
{
	return socketpair(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0;
}

static void turn(struct playing *play, int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	(void)uv_run(play->loop, UV_RUN_NOWAIT);
	(void)poll(&wait, fd >= 0, 1);
}

bool playing_until(struct playing *play, const bool *flag)
{
	int64_t until = clock_ms() + PATIENCE_MS;

	while (!*flag && clock_ms() < until)
		turn(play, -1);
	return *flag;
}

void playing_turn(struct playing *play, unsigned ms)
{
	int64_t until = clock_ms() + ms;

	/*
	 * Each turn takes at least a millisecond, so a busy machine gets as many turns as an idle
	 * one.
	 */
	for (unsigned turns = 0; turns < 4 || turns < ms || clock_ms() < until; turns++)
		turn(play, -1);
}

bool playing_is_closed(struct playing *play, int fd)
{
	int64_t until = clock_ms() + PATIENCE_MS;

	while (clock_ms() < until) {
		char bytes[4096];
		ssize_t got;

		turn(play, fd);
		got = read(fd, bytes, sizeof(bytes));
		if (got == 0 || (got < 0 && errno == ECONNRESET))
			return true;
	}
	return false;
}

bool playing_read(struct playing *play, int fd, void *bytes, size_t len)
{
	int64_t until = clock_ms() + PATIENCE_MS;
	char *at = bytes;

	while (len && clock_ms() < until) {
		ssize_t got = read(fd, at, len);

		if (got == 0 || (got < 0 && errno != EAGAIN))
			return false;
		if (got < 0)
			turn(play, fd);
		at += got > 0 ? got : 0;
		len -= got > 0 ? (size_t)got : 0;
	}
	return !len;
}

/* ---- the spawner -------------------------------------------------------------------------- */

static bool hear_any(struct playing *play, struct priv_msg *ret_msg, int *ret_fds)
{
	int64_t until = clock_ms() + PATIENCE_MS;

	while (clock_ms() < until) {
		int fds[PRIV_FDS_MAX];
		unsigned count = 0;
		struct err err = ERR_INIT;
		int got = priv_recv(play->spawner, true, ret_msg, fds, &count, &err);

		if (got == 1) {
			memcpy(ret_fds, fds, count * sizeof(*fds));
			return true;
		}
		if (got == 0 || err.code != ERR_BUSY)
			return false;
		turn(play, play->spawner);
	}
	return false;
}

bool playing_answer(struct playing *play, const struct priv_msg *question,
	const struct priv_msg *answer, const int *fds, unsigned fd_count)
{
	static struct priv_msg msg; /* static: messages are large, and there is only one thread */
	struct err err = ERR_INIT;
	bool sent;

	msg = *answer;
	msg.op = question->op;
	msg.sequence = question->sequence;
	msg.is_answer = 1;
	sent = priv_send(play->spawner, &msg, fds, fd_count, &err) == 0;
	for (unsigned i = 0; i < fd_count; i++)
		close(fds[i]);
	return sent;
}

bool playing_hear(struct playing *play, struct priv_msg *ret_msg, int *ret_fds)
{
	static const struct priv_msg done;

	while (hear_any(play, ret_msg, ret_fds)) {
		if (ret_msg->op != PRIV_KILL)
			return true;
		play->kills++;
		play->killed = ret_msg->id;
		if (!playing_answer(play, ret_msg, &done, NULL, 0))
			return false;
	}
	return false;
}

bool playing_refuse(struct playing *play, const struct priv_msg *question, const char *why)
{
	struct priv_msg msg = { .error = ERR_DENIED };

	cut_printf(msg.text, sizeof(msg.text), "%s", why);
	return playing_answer(play, question, &msg, NULL, 0);
}

bool playing_exited(struct playing *play, uint32_t child, int status)
{
	struct priv_msg msg = { .op = PRIV_EXITED, .id = child, .status = status };
	struct err err = ERR_INIT;

	return priv_send(play->spawner, &msg, NULL, 0, &err) == 0;
}

/* ---- zygotes and slots -------------------------------------------------------------------- */

int playing_silent_zygote(struct playing *play)
{
	static struct priv_msg msg, answer;
	int control = -1;
	int pidfd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	answer.id = ++play->children;
	if (!playing_hear(play, &msg, &control) || msg.op != PRIV_ZYGOTE ||
		!playing_answer(play, &msg, &answer, &pidfd, 1))
		return -1;
	(void)fcntl(control, F_SETFL, O_NONBLOCK);
	playing_turn(play, 0);
	return control;
}

int playing_zygote(struct playing *play)
{
	struct slotmsg ready = slotmsg_of(SLOTMSG_ZYGOTE_READY);
	int control = playing_silent_zygote(play);

	cut_printf(ready.text, sizeof(ready.text), "3.11.2");
	if (control < 0 || !playing_say_msg(control, &ready))
		return -1;
	return control;
}

bool playing_lease(struct playing *play, int sock, struct slotmsg *ret_msg, int *ret_fds)
{
	int64_t until = clock_ms() + PATIENCE_MS;

	while (clock_ms() < until) {
		unsigned count = 0;
		struct err err = ERR_INIT;
		int got = slotmsg_recv(sock, ret_msg, ret_fds, &count, &err);

		if (got >= 0 || err.code != ERR_BUSY)
			return got == 1;
		turn(play, sock);
	}
	return false;
}

bool playing_say_msg(int sock, const struct slotmsg *msg)
{
	struct err err = ERR_INIT;

	return slotmsg_send(sock, msg, NULL, 0, &err) == 0;
}

bool playing_say(int sock, enum slotmsg_kind kind, uint32_t slot, uint32_t sequence)
{
	struct slotmsg msg = slotmsg_of(kind);

	msg.slot = slot;
	msg.sequence = sequence;
	return playing_say_msg(sock, &msg);
}

int playing_slot(struct playing *play, int control, const struct priv_knobs *knobs, const int *fds)
{
	static struct priv_msg question, answer;
	struct slotmsg msg;
	int given[1 + SLOTMSG_JOIN_FDS_MAX] = { -1 };
	int none[PRIV_FDS_MAX];

	answer.body.knobs = knobs ? *knobs : (struct priv_knobs){ 0 };
	if (!playing_hear(play, &question, none) || question.op != PRIV_SLOT ||
		!playing_answer(play, &question, &answer, fds, knobs ? knobs->count : 0))
		return -1;
	if (!playing_lease(play, control, &msg, given) || msg.kind != SLOTMSG_SLOT_OPEN ||
		!playing_say(control, SLOTMSG_SLOT_OPENED, msg.slot, 0))
		return -1;
	for (unsigned i = 1; knobs && i < 1 + SLOTMSG_JOIN_FDS_MAX && given[i] > 0; i++)
		close(given[i]);
	(void)fcntl(given[0], F_SETFL, O_NONBLOCK);
	return given[0];
}

/* ---- workers ------------------------------------------------------------------------------ */

bool playing_make(struct playing *play, int slot, struct played *ret_worker)
{
	struct slotmsg msg;
	int fds[1 + SLOTMSG_JOIN_FDS_MAX];

	if (!playing_lease(play, slot, &msg, fds) || msg.kind != SLOTMSG_WORKER_MAKE)
		return false;
	*ret_worker = (struct played){ slot, msg.slot, msg.sequence, msg.limits, msg.flags, fds[0],
		fds[1], fds[2], fds[3] };
	return fcntl(ret_worker->job, F_SETFL, O_NONBLOCK) == 0 &&
	       fcntl(ret_worker->lifeline, F_SETFL, O_NONBLOCK) == 0;
}

bool played_says(const struct played *worker, enum slotmsg_kind kind)
{
	return playing_say(worker->slot, kind, worker->index, worker->sequence);
}

bool played_ended(const struct played *worker, int wait_status)
{
	struct slotmsg msg = slotmsg_of(SLOTMSG_WORKER_ENDED);

	msg.slot = worker->index;
	msg.sequence = worker->sequence;
	msg.status = wait_status;
	return playing_say_msg(worker->slot, &msg);
}

bool played_used(const struct played *worker, int wait_status, uint64_t cpu_user_us)
{
	struct slotmsg msg = slotmsg_of(SLOTMSG_WORKER_ENDED);

	msg.slot = worker->index;
	msg.sequence = worker->sequence;
	msg.status = wait_status;
	msg.usage.cpu_user_us = cpu_user_us;
	return playing_say_msg(worker->slot, &msg);
}

bool playing_warm(const struct played *worker)
{
	return played_says(worker, SLOTMSG_WORKER_MADE) && played_sends(worker, JOB_READY, 0, "");
}

void played_close(struct played *worker)
{
	int fds[] = { worker->job, worker->out, worker->errout, worker->lifeline };

	close_fds(fds, 4);
	worker->job = worker->out = worker->errout = worker->lifeline = -1;
}

bool played_sends(const struct played *worker, enum job_kind kind, int exit_code, const char *body)
{
	struct job_head head = { SLOTMSG_MAGIC, kind, (uint32_t)strlen(body), exit_code };
	struct err err = ERR_INIT;

	return write_all(worker->job, &head, sizeof(head), &err) == 0 &&
	       write_all(worker->job, body, head.len, &err) == 0;
}

char *played_job(struct playing *play, const struct played *worker, size_t *ret_len)
{
	struct job_head head;
	auto_free char *body = NULL;

	if (!playing_read(play, worker->job, &head, sizeof(head)) || head.kind != JOB_START ||
		head.len > SLOTMSG_BODY_MAX)
		return NULL;
	body = calloc(1, (size_t)head.len + 1);
	if (!body || !playing_read(play, worker->job, body, head.len))
		return NULL;
	*ret_len = head.len;
	return take_ptr(body);
}
