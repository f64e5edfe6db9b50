#include "sandbox/worker/seccomp_notify.h"

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
#include "sandbox/filter/tiny_filter.h"

/* ---- handing over the listener ------------------------------------------------------------- */

int notify_open(struct notify *notify, struct err *err)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return err_sys(err, "socketpair for listeners");
	notify->hear = ends[0];
	notify->tell = ends[1];
	return fd_set_nonblocking(notify->hear, true, err);
}

int notify_send_listener(int tell, int listener, struct err *err)
{
	ssize_t sent = send_with_fds(tell, "", 1, &listener, 1, err);

	close(listener);
	return sent < 0 ? err_wrap(err, "hand on the listener") : 0;
}

void notify_take_listener(struct notify *notify)
{
	char byte;
	int fd = -1;
	size_t fd_count = 0;

	if (recv_with_fds(notify->hear, &byte, 1, &fd, 1, &fd_count, NULL) < 0 || fd_count == 0)
		return;
	close_fds(&notify->listener, 1);
	notify->listener = fd;
}

/* ---- answering ------------------------------------------------------------------------------ */

bool notify_is_first(struct notify *notify)
{
	bool first = !notify->is_reported;

	notify->is_reported = true;
	return first;
}

bool notify_is_resting(const struct notify *notify)
{
	return notify->answered >= NOTIFY_AT_ONCE && notify->listener >= 0 &&
	       clock_us() < notify->rest_until_us;
}

/* The row of this kind of call; a new one if there is room; or NULL. */
static struct slotmsg_refused *row_of(struct notify *notify, uint32_t nr, uint32_t kind)
{
	for (uint32_t i = 0; i < notify->count; i++)
		if (notify->rows[i].nr == nr && notify->rows[i].kind == kind)
			return &notify->rows[i];
	if (notify->count == SLOTMSG_REFUSED_MAX)
		return NULL;
	notify->rows[notify->count] =
		(struct slotmsg_refused){ .nr = nr, .kind = kind, .first_us = clock_us() };
	return &notify->rows[notify->count++];
}

/* A call that ends the run must have a row: if there is none left, it takes the last one. */
static void count_call(struct notify *notify, const struct seccomp_data *call, bool ends)
{
	uint32_t kind = call->nr == SYS_socket ? (uint32_t)call->args[0] : 0;
	struct slotmsg_refused *row = row_of(notify, (uint32_t)call->nr, kind);

	if (!row && ends) {
		row = &notify->rows[SLOTMSG_REFUSED_MAX - 1];
		notify->others += row->count;
		*row = (struct slotmsg_refused){ .nr = (uint32_t)call->nr, .first_us = clock_us() };
	}
	if (!row) {
		notify->others++;
		return;
	}
	row->count++;
	row->ended = ends;
}

static void note_answer(struct notify *notify)
{
	notify->answered++;
	if (notify->answered >= NOTIFY_AT_ONCE)
		notify->rest_until_us = clock_us() + NOTIFY_REST_US;
}

void notify_permit(struct notify *notify, pid_t pid)
{
	notify->permitted = pid;
}

/*
 * The flags are in a register, so nothing can change them after this look.  The pid is that of the
 * thread: only the first one of the process has the process's.
 */
static bool is_permitted(struct notify *notify, const struct seccomp_notif *notif)
{
	bool is = notify->permitted > 0 && notif->data.nr == SYS_clone &&
		  notif->data.args[0] == NOTIFY_FORK_FLAGS && notif->data.args[1] == 0 &&
		  notif->pid == (uint32_t)notify->permitted;

	if (is)
		notify->permitted = 0;
	return is;
}

enum refusal notify_answer(struct notify *notify)
{
	struct seccomp_notif notif;
	struct seccomp_notif_resp answer;
	uint64_t args[6];
	uint32_t verdict;

	memset(&notif, 0, sizeof(notif));
	if (ioctl(notify->listener, SECCOMP_IOCTL_NOTIF_RECV, &notif) < 0) {
		if (errno != EINTR && errno != ENOENT)
			close_fds(&notify->listener, 1);
		return REFUSAL_NONE;
	}
	if (is_permitted(notify, &notif)) {
		answer = (struct seccomp_notif_resp){ .id = notif.id,
			.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
		notify->has_forked = true;
		(void)ioctl(notify->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
		return REFUSAL_ANSWERED;
	}
	note_answer(notify);
	for (size_t i = 0; i < COUNT_OF(args); i++)
		args[i] = notif.data.args[i];
	verdict = tiny_filter_verdict(notif.data.nr, args);
	count_call(notify, &notif.data, verdict == VERDICT_END);
	if (verdict == VERDICT_END)
		return REFUSAL_END;
	answer = (struct seccomp_notif_resp){ .id = notif.id,
		.error = -(int)(verdict & SECCOMP_RET_DATA) };
	if (answer.error == 0)
		answer.error = -EPERM;
	(void)ioctl(notify->listener, SECCOMP_IOCTL_NOTIF_SEND,
		&answer); /* fails if the caller is dead */
	return REFUSAL_ANSWERED;
}

void notify_drop_listener(struct notify *notify)
{
	close_fds(&notify->listener, 1);
}

/* ---- reporting ------------------------------------------------------------------------------ */

void notify_report(const struct notify *notify, struct slotmsg *msg)
{
	msg->refused_count = notify->count;
	msg->refused_others = notify->others;
	memcpy(msg->refused, notify->rows, sizeof(msg->refused));
}

void notify_begin_cell(struct notify *notify)
{
	notify->answered = 0;
	notify->is_reported = false;
	notify->count = 0;
	notify->others = 0;
	notify->permitted = 0;
}

void notify_forget(struct notify *notify)
{
	notify_take_listener(notify);
	close_fds(&notify->listener, 1);
	notify_begin_cell(notify);
	notify->has_forked = false;
}
