#include "sandbox/worker/branch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/child_exit.h"
#include "sandbox/jail_env.h"
#include "sandbox/worker/footprint.h"
#include "sandbox/worker/joblink.h"
#include "sandbox/worker/seccomp_notify.h"
#include "sandbox/worker/snapshot.h"

#define ANEW_BYTES 65536

static struct {
	int *thread_id;
	int own_thread_id; /* where nothing is known of the C library's */
	struct robust_list_head *robust;
	size_t robust_size;
} known;

void branch_init(void)
{
	if (prctl(PR_GET_TID_ADDRESS, &known.thread_id, 0, 0, 0) < 0)
		known.thread_id = &known.own_thread_id;
	if (syscall(SYS_get_robust_list, 0, &known.robust, &known.robust_size) < 0)
		known.robust = NULL;
}

static long fork_by_permission(void)
{
	return syscall(SYS_clone, NOTIFY_FORK_FLAGS, NULL, NULL, known.thread_id, 0);
}

/* The worker reads from its own job socket; two processes on one would take each other's words. */
static void take_job_socket(int sock, int job)
{
	if (known.robust && syscall(SYS_set_robust_list, known.robust, sizeof(*known.robust)) < 0)
		child_exit(1);
	if (dup3(job, sock, O_CLOEXEC) < 0)
		child_exit(1);
	close(job);
}

static void say(int sock, enum kept_why why, const char *body, size_t len)
{
	if (joblink_tell(sock, JOB_AGREED, (int)why, body, len, NULL) < 0)
		child_exit(1);
}

/*
 * What cells have sent to the state while it stood, with all signals blocked, and the SIGCONT of the
 * slot.  That has come when the daemon sends the next word.
 */
static void forget_signals(int sock)
{
	static const struct timespec at_once;
	struct pollfd next = { .fd = sock, .events = POLLIN };
	sigset_t all;

	while (poll(&next, 1, -1) < 0 && errno == EINTR)
		;
	sigfillset(&all);
	while (sigtimedwait(&all, NULL, &at_once) >= 0 || errno == EINTR)
		;
}

/*
 * Deleted files that other states have open are still on the disk.  When it has no room, ced gives those
 * states up, and wakes this one again.
 */
static void put_back(int sock, const struct snapshot *snapshot)
{
	static char anew[ANEW_BYTES];
	struct err err;
	size_t len;
	int result;

	do {
		err = (struct err){ .code = ERR_NONE };
		len = 0;
		if (joblink_wait_word(sock, JOB_WAKE) < 0)
			child_exit(1);
		result = snapshot_put_back(snapshot, anew, sizeof(anew), &len, &err);
		if (result < 0 && err.sys_errno == ENOSPC)
			say(sock, KEPT_NO_ROOM, NULL, 0);
	} while (result < 0 && err.sys_errno == ENOSPC);
	if (result < 0) {
		say(sock, KEPT_NOT_BACK, err.text, strlen(err.text));
		child_exit(1);
	}
	say(sock, KEPT_WELL, anew, len);
}

/* In the child.  Returns when it goes on. */
static void stand(int sock, int job, int hello)
{
	static const char *const roots[] = { JAIL_WORK_DIR, JAIL_TMP_DIR, NULL };
	struct err err = ERR_INIT;
	struct snapshot *snapshot;

	take_job_socket(sock, job);
	snapshot = snapshot_take(roots, &err);
	say(sock, snapshot ? KEPT_WELL : KEPT_NO_FILES, NULL, 0);
	if (send(hello, "", 1, MSG_NOSIGNAL) != 1)
		child_exit(1);
	close(hello);
	put_back(sock, snapshot);
	snapshot_free(snapshot);
	forget_signals(sock);
}

/*
 * After the fork both share all pages, and the first to write to one copies it.  A copy costs the worker
 * more: the kernel interrupts each processor on which the worker has run, and the state has run on one.
 * So the state copies the pages that the next cell will write to, and the worker, which waits for that,
 * takes them back.  The answer to the cell before does not wait.
 */
static void share_pages(int ends[2], bool is_state)
{
	char byte;

	if (is_state) {
		close(ends[0]);
		footprint_copy();
		close(ends[1]);
		return;
	}
	close(ends[1]);
	while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
		;
	close(ends[0]);
	footprint_touch_again();
}

/*
 * No signal interrupts the fork, whose permission would be used up then; and none that the program
 * sends makes a state do anything while it stands.
 */
bool branch(int sock, const struct joblink_job *keep, enum kept_why *ret_why)
{
	const int job = keep->fds[0];
	const int hello = keep->fds[1];
	int ends[2];
	bool shares;
	sigset_t all;
	sigset_t before;
	long pid;

	sigfillset(&all);
	if (sigprocmask(SIG_SETMASK, &all, &before) < 0)
		child_exit(1);
	shares = footprint_is_known() && pipe2(ends, O_CLOEXEC) == 0;
	pid = known.thread_id ? fork_by_permission() : -1;
	if (shares)
		share_pages(ends, pid == 0);
	if (pid == 0) {
		stand(sock, job, hello);
	} else {
		close(job);
		close(hello);
	}
	if (sigprocmask(SIG_SETMASK, &before, NULL) < 0)
		child_exit(1);
	*ret_why = pid < 0 ? KEPT_NO_FORK : KEPT_WELL;
	return pid == 0;
}
