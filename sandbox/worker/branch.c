#include "sandbox/worker/branch.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/child_exit.h"
#include "sandbox/jail_env.h"
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

/* In the child.  Returns when it goes on. */
static void stand(int sock, int job, int hello)
{
	static const char *const roots[] = { JAIL_WORK_DIR, JAIL_TMP_DIR, NULL };
	static char anew[ANEW_BYTES];
	struct err err = ERR_INIT;
	struct snapshot *snapshot;
	size_t len = 0;

	take_job_socket(sock, job);
	snapshot = snapshot_take(roots, &err);
	say(sock, snapshot ? KEPT_WELL : KEPT_NO_FILES, NULL, 0);
	if (send(hello, "", 1, MSG_NOSIGNAL) != 1)
		child_exit(1);
	close(hello);
	if (joblink_wait_word(sock, JOB_WAKE) < 0)
		child_exit(1);
	if (snapshot_put_back(snapshot, anew, sizeof(anew), &len, &err) < 0) {
		say(sock, KEPT_NOT_BACK, err.text, strlen(err.text));
		child_exit(1);
	}
	snapshot_free(snapshot);
	say(sock, KEPT_WELL, anew, len);
}

/*
 * No signal interrupts the fork, whose permission would be used up then; and none that the program
 * sends makes a state do anything while it stands.
 */
bool branch(int sock, const struct joblink_job *keep, enum kept_why *ret_why)
{
	const int job = keep->fds[0];
	const int hello = keep->fds[1];
	sigset_t all;
	sigset_t before;
	long pid;

	sigfillset(&all);
	if (sigprocmask(SIG_SETMASK, &all, &before) < 0)
		child_exit(1);
	pid = known.thread_id ? fork_by_permission() : -1;
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
