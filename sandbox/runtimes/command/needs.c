#include "sandbox/runtimes/command/needs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "sandbox/child_exit.h"

#define TEXT_MAX 16384

static void drop_rights(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3];

	memset(none, 0, sizeof(none));
	if (syscall(SYS_capset, &head, none) < 0)
		child_exit(127);
}

__attribute__((noreturn)) static void be_program(const char *const *argv, int out)
{
	/* execve() does not change the texts; its prototype is older than const. */
	union {
		const char *const *in;
		char *const *out;
	} args = { argv };
	char path[] = "PATH=/usr/bin:/bin";
	char *env[] = { path, NULL };

	if (dup2(out, STDOUT_FILENO) < 0 || dup2(STDIN_FILENO, STDERR_FILENO) < 0)
		child_exit(127);
	(void)close_range(STDERR_FILENO + 1, ~0U, 0);
	drop_rights();
	execve(argv[0], args.out, env);
	child_exit(127);
}

static void read_text(int fd, char *ret_text, size_t size)
{
	size_t len = 0;
	ssize_t got = 1;

	while (got > 0 || (got < 0 && errno == EINTR)) {
		got = len + 1 < size ? read(fd, ret_text + len, size - 1 - len) : 0;
		len += got > 0 ? (size_t)got : 0;
	}
	ret_text[len] = '\0';
}

int needs_run(const char *const *argv, char *ret_text, size_t size, struct err *err)
{
	auto_fd int hear = -1;
	int ends[2];
	int status = 0;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(err, "pipe");
	hear = ends[0];
	pid = fork();
	if (pid == 0)
		be_program(argv, ends[1]);
	close(ends[1]);
	if (pid < 0)
		return err_sys(err, "fork");
	read_text(hear, ret_text, size);
	cleanup_fd(&hear);
	hear = -1;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_sys(err, "wait for %s", argv[0]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* "	libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x...)", or the path alone. */
static char *path_in(char *line)
{
	char *path = strchr(line, '/');
	char *end = path ? strstr(path, " (0x") : NULL;

	if (end)
		*end = '\0';
	return end ? path : NULL;
}

int needs_of(const char *program, int (*found)(void *context, const char *library, struct err *err),
	void *context, struct err *err)
{
	const char *const argv[] = { NEEDS_LOADER, "--list", program, NULL };
	static char text[TEXT_MAX];
	char *rest = NULL;
	int status = needs_run(argv, text, sizeof(text), err);

	if (status != 0)
		return status < 0 ? -1 : 0;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		const char *path = path_in(line);

		if (path && found(context, path, err) < 0)
			return -1;
	}
	return 0;
}
