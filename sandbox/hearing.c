#include "sandbox/hearing.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "sandbox/tiny_filter.h"

/* ---- the way of the listener --------------------------------------------------------------- */

int hearing_open(struct hearing *hearing, struct err *err)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return err_sys(err, "a way for listeners");
	hearing->hear = ends[0];
	hearing->tell = ends[1];
	return fd_set_nonblocking(hearing->hear, true, err);
}

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void hearing_close(struct hearing *hearing)
{
	close_end(&hearing->hear);
	close_end(&hearing->tell);
	close_end(&hearing->listener);
}

int hearing_send(int tell, int listener, struct err *err)
{
	ssize_t sent = send_with_fds(tell, "", 1, &listener, 1, err);

	close(listener);
	return sent < 0 ? err_wrap(err, "hand on the listener") : 0;
}

void hearing_take(struct hearing *hearing)
{
	char byte;
	int fd = -1;
	size_t fd_count = 0;

	if (recv_with_fds(hearing->hear, &byte, 1, &fd, 1, &fd_count, NULL) < 0 || fd_count == 0)
		return;
	close_end(&hearing->listener);
	hearing->listener = fd;
}

/* ---- hearing and answering ----------------------------------------------------------------- */

bool hearing_first(struct hearing *hearing)
{
	bool first = !hearing->told;

	hearing->told = true;
	return first;
}

bool hearing_rest(const struct hearing *hearing)
{
	return hearing->answered >= HEARING_AT_ONCE && hearing->listener >= 0 &&
	       clock_us() < hearing->rest_until_us;
}

/* The row of this kind of call, a new one if there is room. */
static struct slotmsg_refused *row_of(struct hearing *hearing, uint32_t nr, uint32_t kind)
{
	for (uint32_t i = 0; i < hearing->count; i++)
		if (hearing->rows[i].nr == nr && hearing->rows[i].kind == kind)
			return &hearing->rows[i];
	if (hearing->count == SLOTMSG_REFUSED_MAX)
		return NULL;
	hearing->rows[hearing->count] =
		(struct slotmsg_refused){ .nr = nr, .kind = kind, .first_us = clock_us() };
	return &hearing->rows[hearing->count++];
}

/* The call that ends a run has to be named: it takes the last row if there is no other. */
static void count_call(struct hearing *hearing, const struct seccomp_data *call, bool ends)
{
	uint32_t kind = call->nr == SYS_socket ? (uint32_t)call->args[0] : 0;
	struct slotmsg_refused *row = row_of(hearing, (uint32_t)call->nr, kind);

	if (!row && ends) {
		row = &hearing->rows[SLOTMSG_REFUSED_MAX - 1];
		hearing->others += row->count;
		*row = (struct slotmsg_refused){ .nr = (uint32_t)call->nr, .first_us = clock_us() };
	}
	if (!row) {
		hearing->others++;
		return;
	}
	row->count++;
	row->ended = ends;
}

static void rest(struct hearing *hearing)
{
	hearing->answered++;
	if (hearing->answered >= HEARING_AT_ONCE)
		hearing->rest_until_us = clock_us() + HEARING_REST_US;
}

enum refusal hearing_answer(struct hearing *hearing)
{
	struct seccomp_notif notif;
	struct seccomp_notif_resp answer;
	uint64_t args[6];
	uint32_t verdict;

	memset(&notif, 0, sizeof(notif));
	if (ioctl(hearing->listener, SECCOMP_IOCTL_NOTIF_RECV, &notif) < 0) {
		if (errno != EINTR && errno != ENOENT)
			close_end(&hearing->listener);
		return REFUSAL_NONE;
	}
	rest(hearing);
	for (size_t i = 0; i < COUNT_OF(args); i++)
		args[i] = notif.data.args[i];
	verdict = tiny_filter_verdict(notif.data.nr, args);
	count_call(hearing, &notif.data, verdict == VERDICT_END);
	if (verdict == VERDICT_END)
		return REFUSAL_END;
	answer = (struct seccomp_notif_resp){ .id = notif.id,
		.error = -(int)(verdict & SECCOMP_RET_DATA) };
	if (answer.error == 0)
		answer.error = -EPERM;
	(void)ioctl(hearing->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer); /* or it is dead */
	return REFUSAL_TOLD;
}

void hearing_over(struct hearing *hearing)
{
	close_end(&hearing->listener);
}

/* ---- telling and forgetting ---------------------------------------------------------------- */

void hearing_tell(const struct hearing *hearing, struct slotmsg *msg)
{
	msg->refused_count = hearing->count;
	msg->refused_others = hearing->others;
	memcpy(msg->refused, hearing->rows, sizeof(msg->refused));
}

void hearing_forget(struct hearing *hearing)
{
	hearing_take(hearing);
	close_end(&hearing->listener);
	hearing->answered = 0;
	hearing->told = false;
	hearing->count = 0;
	hearing->others = 0;
}
