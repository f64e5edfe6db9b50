/* Shared by the tests of the jail: work in a forked child, in its own namespaces. */
#pragma once

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/err.h"

/* Runs `work` in a child.  Returns what `work` returned, or -signal. */
static inline int in_child(int (*work)(void *context), void *context)
{
	int status = 0;
	pid_t pid;

	(void)fflush(stdout);
	pid = fork();
	if (pid == 0) {
		int answer = work(context);

		(void)fflush(stdout);
		_exit(answer);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 254;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/*
 * In a child: enters its own namespaces with all capabilities, mapped to the user it already was.
 */
static inline bool enter_namespaces(void)
{
	char map[64];
	unsigned uid = getuid();
	unsigned gid = getgid();
	FILE *file;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return false;
	(void)snprintf(map, sizeof(map), "0 %u 1", uid);
	file = fopen("/proc/self/setgroups", "we");
	if (!file || fputs("deny", file) < 0 || fclose(file) != 0)
		return false;
	file = fopen("/proc/self/uid_map", "we");
	if (!file || fputs(map, file) < 0 || fclose(file) != 0)
		return false;
	(void)snprintf(map, sizeof(map), "0 %u 1", gid);
	file = fopen("/proc/self/gid_map", "we");
	return file && fputs(map, file) >= 0 && fclose(file) == 0;
}

static inline int only_enter(void *context)
{
	(void)context;
	return enter_namespaces() ? 0 : 1;
}

/* valgrind knows neither clone3() nor filters, so under it we would test its emulation. */
static inline bool is_emulated(void)
{
	return syscall(SYS_clone3, NULL, 0) < 0 && errno == ENOSYS;
}

/* A host may allow user namespaces only to root; then the test is skipped. */
static inline bool can_jail(void)
{
	return !is_emulated() && in_child(only_enter, NULL) == 0;
}

/* Like CHECK, but for code in a child: prints the condition that failed. */
#define WANT(condition)                                                          \
	do {                                                                     \
		if (!(condition)) {                                              \
			printf("# %s:%d: %s\n", __FILE__, __LINE__, #condition); \
			return 1;                                                \
		}                                                                \
	} while (0)
