#include "cli/doctor/try.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"

#define PATIENCE_S 5
#define NOBODY     65534

void *try_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void try_forget(void *memory, size_t size)
{
	if (memory)
		(void)munmap(memory, size);
}

/* What a child leaves behind. */
struct word {
	bool said;
	int answer;
	struct err err;
};

/* Stdout and stdin are ours alone: nothing that is buffered there is written twice. */
__attribute__((noreturn)) static void work_and_leave(
	try_work work, void *context, struct word *word)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)alarm(PATIENCE_S);
	word->answer = work(context, &word->err);
	word->said = true;
	_exit(0);
}

static int hear(pid_t pid, const struct word *word, struct err *err)
{
	int status = 0;

	while (waitpid(pid, &status, __WALL) < 0)
		if (errno != EINTR)
			return err_sys(err, "waitpid");
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		return err_set(err, ERR_TIMEOUT, "it did not end within %d s", PATIENCE_S);
	if (WIFSIGNALED(status))
		return err_set(err, ERR_DENIED, "who tries it is killed by SIG%s",
			sigabbrev_np(WTERMSIG(status)) ? sigabbrev_np(WTERMSIG(status)) : "?");
	if (!word->said)
		return err_set(err, ERR_SYSTEM, "the child that tried it ended without a word");
	return word->answer < 0 ? err_pass(err, &word->err) : word->answer;
}

int try_apart(try_work work, void *context, struct err *err)
{
	struct word *word = try_memory(sizeof(*word));
	int answer;
	pid_t pid;

	if (!word)
		return err_set(err, ERR_MEMORY, "no memory to try it");
	pid = fork();
	if (pid == 0) {
		(void)setpgid(0, 0);
		work_and_leave(work, context, word);
	}
	answer = pid < 0 ? err_sys(err, "fork") : hear(pid, word, err);
	if (pid > 0)
		(void)kill(-pid, SIGKILL); /* whom it has left behind */
	try_forget(word, sizeof(*word));
	return answer;
}

/* ---- namespaces ---------------------------------------------------------------------------- */

static const struct {
	uint64_t flag;
	const char *name; /* below /proc/<pid>/ns */
} kinds_known[] = {
	{ CLONE_NEWUSER, "user" },
	{ CLONE_NEWNS, "mnt" },
	{ CLONE_NEWPID, "pid" },
	{ CLONE_NEWNET, "net" },
	{ CLONE_NEWIPC, "ipc" },
	{ CLONE_NEWUTS, "uts" },
	{ CLONE_NEWCGROUP, "cgroup" },
	{ CLONE_NEWTIME, "time" },
};

bool try_uids_exist(unsigned first, unsigned count)
{
	FILE *file = fopen("/proc/self/uid_map", "re");
	char line[64];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		char *rest;
		unsigned long inside = strtoul(line, &rest, 10);

		(void)strtoul(rest, &rest, 10); /* whom it is outside */
		found = first >= inside && first - inside + count <= strtoul(rest, NULL, 10);
	}
	if (file)
		(void)fclose(file);
	return found;
}

static int write_of(pid_t pid, const char *name, const char *text, struct err *err)
{
	auto_fd int fd = -1;
	char path[64];

	cut_printf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return err_sys(err, "%s", name);
	return 0;
}

static int write_maps(pid_t pid, struct err *err)
{
	bool block = geteuid() == 0 && try_uids_exist(HOST_UIDS_FIRST, HOST_UIDS_COUNT);
	char uids[64];
	char gids[64];

	cut_printf(uids, sizeof(uids), "0 %u %u\n", block ? HOST_UIDS_FIRST : geteuid(),
		block ? 2 : 1);
	cut_printf(gids, sizeof(gids), "0 %u %u\n", block ? HOST_UIDS_FIRST : getegid(),
		block ? 2 : 1);
	if (write_of(pid, "setgroups", "deny", err) < 0 ||
		write_of(pid, "uid_map", uids, err) < 0 || write_of(pid, "gid_map", gids, err) < 0)
		return -1;
	return 0;
}

/* The kernel says yes to flags that it does not know only where clone3() is not its own. */
static int look_at(pid_t pid, uint64_t kinds, struct err *err)
{
	for (size_t i = 0; i < COUNT_OF(kinds_known); i++) {
		struct stat own;
		struct stat theirs;
		char path[64];

		if (!(kinds & kinds_known[i].flag))
			continue;
		cut_printf(path, sizeof(path), "/proc/self/ns/%s", kinds_known[i].name);
		if (stat(path, &own) < 0)
			return err_sys(err, "%s", path);
		cut_printf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, kinds_known[i].name);
		if (stat(path, &theirs) < 0)
			return err_sys(err, "%s", path);
		if (own.st_ino == theirs.st_ino && own.st_dev == theirs.st_dev)
			return err_set(err, ERR_UNSUPPORTED, "the %s namespace is not a new one",
				kinds_known[i].name);
	}
	return 0;
}

struct inside {
	try_work work;
	void *context;
	int go; /* a byte comes when the maps are written */
};

static int work_inside(void *context, struct err *err)
{
	const struct inside *inside = context;
	char byte;

	if (read(inside->go, &byte, 1) != 1)
		return err_set(err, ERR_CLOSED, "was not let in");
	/* the maps have one or two ids: 0 is always among them */
	if (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		return err_sys(err, "become uid 0 of the namespace");
	/* what a change of uid takes: our end with our parent's, and our own files in /proc */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	return inside->work(inside->context, err);
}

static int let_in(pid_t pid, uint64_t kinds, int go, struct err *err)
{
	if (look_at(pid, kinds, err) < 0 || write_maps(pid, err) < 0)
		return -1;
	return write_all(go, "", 1, err);
}

static int start_inside(uint64_t kinds, const int *pipe_fds, struct inside *inside,
	struct word *word, struct err *err)
{
	struct clone_args args = { .flags = kinds, .exit_signal = SIGCHLD };
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (pid < 0)
		return err_sys(err, "clone3");
	if (pid == 0) {
		close(pipe_fds[1]); /* else a parent that gives up would not be noticed */
		work_and_leave(work_inside, inside, word);
	}
	if (let_in(pid, kinds, pipe_fds[1], err) < 0) {
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, __WALL);
		return -1;
	}
	return hear(pid, word, err);
}

int try_inside(uint64_t kinds, try_work work, void *context, struct err *err)
{
	struct word *word = try_memory(sizeof(*word));
	struct inside inside = { work, context, -1 };
	int pipe_fds[2] = { -1, -1 };
	int answer;

	if (!word)
		return err_set(err, ERR_MEMORY, "no memory to try it");
	if (pipe2(pipe_fds, O_CLOEXEC) < 0) {
		try_forget(word, sizeof(*word));
		return err_sys(err, "pipe");
	}
	inside.go = pipe_fds[0];
	answer = start_inside(kinds, pipe_fds, &inside, word, err);
	close_fds(pipe_fds, 2);
	try_forget(word, sizeof(*word));
	return answer;
}

int try_as_nobody(struct err *err)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(err, "no_new_privs");
	if (geteuid() != 0)
		return 0;
	if (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
		setresuid(NOBODY, NOBODY, NOBODY) < 0)
		return err_sys(err, "become nobody");
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	return 0;
}
