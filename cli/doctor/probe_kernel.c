/* Calls of the kernel that ced makes and that older ones, or a filter around us, do not give. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/doctor/probe.h"
#include "cli/doctor/try.h"
#include "proto/base/cleanup.h"

#define LEAST_MAJOR 5
#define LEAST_MINOR 12 /* mount_setattr() */

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

long probe_sysctl(const char *name)
{
	char path[128];
	char line[32];
	char *end = NULL;
	long number;

	cut_printf(path, sizeof(path), "/proc/sys/%s", name);
	probe_line(path, line, sizeof(line));
	number = strtol(line, &end, 10);
	return end == line ? -1 : number;
}

void probe_line(const char *path, char *ret_line, size_t size)
{
	FILE *file = fopen(path, "re");

	ret_line[0] = '\0';
	if (file && fgets(ret_line, (int)size, file))
		ret_line[strcspn(ret_line, "\n")] = '\0';
	if (file)
		(void)fclose(file);
}

PROBE(version)
{
	struct utsname name;
	unsigned long major;
	unsigned long minor;
	char *rest = NULL;

	(void)patient;
	if (uname(&name) < 0)
		return err_sys(err, "uname");
	cut_printf(finding->found, FOUND_MAX, "%s %s", name.sysname, name.release);
	major = strtoul(name.release, &rest, 10);
	minor = *rest == '.' ? strtoul(rest + 1, NULL, 10) : 0;
	if (major < LEAST_MAJOR || (major == LEAST_MAJOR && minor < LEAST_MINOR))
		return err_set(err, ERR_UNSUPPORTED, "%s is older than %d.%d", name.release,
			LEAST_MAJOR, LEAST_MINOR);
	return 0;
}

PROBE(machine)
{
	struct utsname name;

	(void)patient;
	if (uname(&name) < 0)
		return err_sys(err, "uname");
	cut_printf(finding->found, FOUND_MAX, "%s", name.machine);
	if (strcmp(name.machine, "x86_64") != 0)
		return err_set(err, ERR_UNSUPPORTED,
			"%s: the filters are written and tried for x86_64", name.machine);
	return 0;
}

PROBE(clone3)
{
	struct clone_args args = { .exit_signal = SIGCHLD };
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	(void)patient;
	if (pid == 0)
		_exit(0);
	if (pid < 0)
		return err_sys(err, "clone3");
	if (waitpid(pid, NULL, 0) != pid)
		return err_sys(err, "waitpid");
	cut_printf(finding->found, FOUND_MAX, "a child was started by it");
	return 0;
}

/* Watches and kills a child by its descriptor. */
PROBE(pidfd)
{
	auto_fd int pidfd = -1;
	pid_t pid = fork();
	siginfo_t info = { 0 };
	struct pollfd watched;

	(void)patient;
	if (pid == 0) {
		(void)pause();
		_exit(0);
	}
	pidfd = pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0)
		return err_sys(err, "pidfd_open");
	if (syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) < 0)
		return err_sys(err, "pidfd_send_signal");
	watched = (struct pollfd){ .fd = pidfd, .events = POLLIN };
	if (poll(&watched, 1, 1000) != 1)
		return err_set(err, ERR_TIMEOUT, "the descriptor did not tell of the end");
	if (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED) < 0)
		return err_sys(err, "waitid");
	cut_printf(finding->found, FOUND_MAX, "a child was killed and reaped by its descriptor");
	return 0;
}

PROBE(close_range)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)patient;
	if (fd < 0)
		return err_sys(err, "/dev/null");
	if (syscall(SYS_close_range, (unsigned)fd, (unsigned)fd, 0) < 0)
		return err_sys(err, "close_range");
	if (fcntl(fd, F_GETFD) >= 0)
		return err_set(err, ERR_UNSUPPORTED, "close_range closed nothing");
	cut_printf(finding->found, FOUND_MAX, "closes what is not to be inherited");
	return 0;
}

/* A path that climbs must stay inside. */
PROBE(openat2)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	auto_fd int root = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	auto_fd int inside = -1;
	struct stat top;
	struct stat found;

	(void)patient;
	if (root < 0)
		return err_sys(err, "/proc/self");
	inside = (int)syscall(SYS_openat2, root, "../../..", &how, sizeof(how));
	if (inside < 0)
		return err_sys(err, "openat2");
	if (fstat(root, &top) < 0 || fstat(inside, &found) < 0 || top.st_ino != found.st_ino)
		return err_set(err, ERR_UNSUPPORTED, "openat2 let a path out of its root");
	cut_printf(finding->found, FOUND_MAX, "a path that climbs stays inside");
	return 0;
}

/* As the daemon keeps a program's input: sealed, so that nobody changes it any more. */
PROBE(memfd)
{
	auto_fd int fd = memfd_create("doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	long noexec = probe_sysctl("vm/memfd_noexec");

	(void)patient;
	if (fd < 0 && noexec >= 2)
		cut_printf(finding->repair, REPAIR_MAX, "sysctl -w vm.memfd_noexec=1");
	if (fd < 0)
		return err_sys(err, "memfd_create");
	if (ftruncate(fd, 16) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK) < 0)
		return err_sys(err, "seal");
	if (write(fd, "x", 1) == 1)
		return err_set(err, ERR_UNSUPPORTED, "what is sealed can be written to");
	cut_printf(finding->found, FOUND_MAX,
		noexec < 0 ? "sealed" : "sealed; vm.memfd_noexec = %ld", noexec);
	return 0;
}

PROBE(populate)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)patient;
	if (page == MAP_FAILED)
		return err_sys(err, "mmap");
	if (madvise(page, size, MADV_POPULATE_READ) < 0)
		return err_sys(err, "madvise");
	cut_printf(finding->found, FOUND_MAX, "MADV_POPULATE_READ works");
	return 0;
}

static int crash(void)
{
	const struct rlimit none = { 0, 0 };

	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	(void)setrlimit(RLIMIT_CORE, &none);
	(void)signal(SIGABRT, SIG_DFL);
	abort();
}

/* A handler behind a pipe is called whatever RLIMIT_CORE says; not for who cannot be dumped. */
PROBE(cores)
{
	char pattern[128];
	int status = 0;
	pid_t pid;

	(void)patient;
	probe_line("/proc/sys/kernel/core_pattern", pattern, sizeof(pattern));
	pid = fork();
	if (pid == 0)
		crash();
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return err_sys(err, "fork");
	if (!WIFSIGNALED(status) || WCOREDUMP(status))
		return err_set(err, ERR_UNSUPPORTED,
			"a process that may not be dumped was (core_pattern = %s)", pattern);
	cut_printf(finding->found, FOUND_MAX, "core_pattern = %s; a crash was not dumped", pattern);
	return 0;
}
