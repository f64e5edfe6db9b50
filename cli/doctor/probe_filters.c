/* System call filters and Landlock: what a program may not, tried on a program of our own. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/doctor/probe.h"
#include "cli/doctor/try.h"
#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"

#define REFUSED ENOTNAM /* an errno that getppid() never gives by itself */

/* Loads a filter that treats getppid() as `action` says and lets everything else through. */
static int load(unsigned flags, unsigned action)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

static int call_refused(void *context, struct err *err)
{
	(void)context;
	if (load(0, SECCOMP_RET_ERRNO | REFUSED) < 0)
		return err_sys(err, "seccomp");
	errno = 0;
	if (syscall(SYS_getppid) >= 0 || errno != REFUSED)
		return err_set(err, ERR_UNSUPPORTED, "a refused call came through");
	return 0;
}

PROBE(seccomp_errno)
{
	(void)patient;
	if (try_apart(call_refused, NULL, err) < 0)
		return -1;
	cut_printf(finding->found, FOUND_MAX, "a refused call was answered with an errno");
	return 0;
}

PROBE(seccomp_kill)
{
	int status = 0;
	pid_t pid = fork();

	(void)patient;
	if (pid == 0) {
		if (load(0, SECCOMP_RET_KILL_PROCESS) == 0)
			(void)syscall(SYS_getppid);
		_exit(1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return err_sys(err, "fork");
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
		return err_set(err, ERR_UNSUPPORTED, "a forbidden call did not kill");
	cut_printf(finding->found, FOUND_MAX, "a forbidden call killed its process");
	return 0;
}

/* ---- the notifier -------------------------------------------------------------------------- */

static int be_watched(int sock)
{
	int listener = load(SECCOMP_FILTER_FLAG_NEW_LISTENER, SECCOMP_RET_USER_NOTIF);

	if (listener < 0)
		return errno;
	if (send_with_fds(sock, "", 1, &listener, 1, NULL) != 1)
		return EIO;
	close(listener);
	errno = 0;
	return syscall(SYS_getppid) < 0 && errno == REFUSED ? 0 : EIO;
}

static int answer_one(int listener, struct err *err)
{
	struct pollfd watched = { .fd = listener, .events = POLLIN };
	struct seccomp_notif call;
	struct seccomp_notif_resp answer = { .error = -REFUSED };

	memset(&call, 0, sizeof(call));
	if (poll(&watched, 1, 2000) != 1)
		return err_set(err, ERR_TIMEOUT, "no call was told");
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0)
		return err_sys(err, "receive");
	answer.id = call.id;
	if (call.data.nr != SYS_getppid)
		return err_set(err, ERR_UNSUPPORTED, "call %d was told", call.data.nr);
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) < 0)
		return err_sys(err, "answer");
	return 0;
}

static int watch(pid_t pid, int sock, struct err *err)
{
	auto_fd int listener = -1;
	size_t count = 0;
	int status = 0;
	char byte;
	int told = -1;

	if (recv_with_fds(sock, &byte, 1, &listener, 1, &count, NULL) == 1 && count == 1)
		told = answer_one(listener, err);
	if (told < 0)
		(void)kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid)
		return err_sys(err, "waitpid");
	if (count == 0) {
		errno = WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
		return err_sys(err, "seccomp");
	}
	if (told == 0 && status != 0)
		return err_set(err, ERR_UNSUPPORTED, "the answer did not reach the call");
	return told;
}

PROBE(seccomp_notify)
{
	int pair[2] = { -1, -1 };
	int told;
	pid_t pid;

	(void)patient;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, "socketpair");
	pid = fork();
	if (pid == 0) {
		close(pair[0]);
		_exit(be_watched(pair[1]));
	}
	close(pair[1]);
	told = pid < 0 ? err_sys(err, "fork") : watch(pid, pair[0], err);
	close(pair[0]);
	if (told == 0)
		cut_printf(finding->found, FOUND_MAX, "a refused call was told, and answered");
	return told;
}

/* ---- Landlock ------------------------------------------------------------------------------ */

static int write_forbidden(void *context, struct err *err)
{
	struct landlock_ruleset_attr attr = { .handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE };
	auto_fd int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	auto_fd int fd = -1;

	(void)context;
	if (ruleset < 0)
		return err_sys(err, "landlock_create_ruleset");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		return err_sys(err, "landlock_restrict_self");
	fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (fd >= 0 || errno != EACCES)
		return err_set(err, ERR_UNSUPPORTED, "a forbidden file was opened");
	return 0;
}

PROBE(landlock)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	(void)patient;
	if (abi < 0 && errno == EOPNOTSUPP)
		cut_printf(finding->repair, REPAIR_MAX,
			"it is built in and switched off: put landlock into lsm= on the kernel's command "
			"line (GRUB_CMDLINE_LINUX in /etc/default/grub, then update-grub) and restart");
	if (abi < 0)
		return err_sys(err, "landlock");
	if (try_apart(write_forbidden, NULL, err) < 0)
		return -1;
	cut_printf(finding->found, FOUND_MAX, "ABI %ld; every worker uses it as a second barrier",
		abi);
	return 0;
}
