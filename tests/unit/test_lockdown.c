#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/lockdown.h"
#include "proto/base/container.h"
#include "tests/check.h"

/* Runs `attempt` in a locked-down process.  Returns its wait status. */
static int locked(void (*attempt)(void))
{
	static const struct rlimit no_core = { 0, 0 };
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		struct err err = ERR_INIT;

		(void)setrlimit(RLIMIT_CORE, &no_core);
		if (lockdown(&err) < 0)
			_exit(99);
		attempt();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

static void execute(void)
{
	(void)execl("/bin/true", "true", (char *)NULL);
}

__attribute__((unused)) static void trace(void)
{
	(void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static void mount_something(void)
{
	(void)mount("none", "/tmp", "tmpfs", 0, NULL);
}

static void unshare_something(void)
{
	(void)unshare(CLONE_NEWNS);
}

static void read_another(void)
{
	(void)syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0);
}

TEST(what_the_daemon_never_does_again_kills_it)
{
	static void (*const attempts[])(void) = {
		execute,
#if !defined(__SANITIZE_ADDRESS__) /* the leak checker traces */
		trace,
#endif
		mount_something,
		unshare_something,
		read_another
	};

	for (unsigned i = 0; i < COUNT_OF(attempts); i++) {
		int status = locked(attempts[i]);

		CHECK(WIFSIGNALED(status));
		CHECK_EQ_INT(WTERMSIG(status), SIGSYS);
	}
}

static void live_on(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	if (pid < 0 || waitpid(pid, NULL, 0) != pid || write(STDERR_FILENO, "", 0) < 0)
		_exit(1);
}

TEST(everything_else_goes_on)
{
	CHECK_EQ_INT(locked(live_on), 0);
}

static void look_at_rights(void)
{
	if (prctl(PR_GET_DUMPABLE) != 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		_exit(1);
}

TEST(nobody_looks_into_it_and_it_gains_no_rights)
{
	CHECK_EQ_INT(locked(look_at_rights), 0);
}
