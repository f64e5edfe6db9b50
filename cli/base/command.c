#include "cli/base/command.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/cleanup.h"

#define NOBODY 65534

/* As ced-spawner chooses it. */
void command_daemon_ids(uid_t *ret_uid, gid_t *ret_gid)
{
	const bool is_root = geteuid() == 0;
	const struct passwd *user = is_root ? getpwnam("ced") : NULL;

	*ret_uid = is_root ? NOBODY : geteuid();
	*ret_gid = is_root ? NOBODY : getegid();
	if (user) {
		*ret_uid = user->pw_uid;
		*ret_gid = user->pw_gid;
	}
}

/* An ordinary user has no rights to give up. */
static int become_daemon(void)
{
	uid_t uid;
	gid_t gid;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	if (geteuid() != 0)
		return 0;
	command_daemon_ids(&uid, &gid);
	return setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 ||
			       setresuid(uid, uid, uid) < 0
		       ? -1
		       : 0;
}

/* In the child.  Writes errno to `failed`, which a successful exec closes. */
__attribute__((noreturn)) static void start(const struct command_line *line, int out, int failed)
{
	union {
		const char *const *in;
		char *const *out;
	} argv = { line->argv };

	if ((!line->as_daemon || (become_daemon() == 0 && chdir("/") == 0)) &&
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && dup2(out, STDOUT_FILENO) >= 0 &&
		(!line->with_stderr || dup2(out, STDERR_FILENO) >= 0)) {
		(void)alarm(line->seconds); /* survives the exec */
		(void)execv(argv.in[0], argv.out);
	}
	(void)!write(failed, &errno, sizeof(errno));
	_exit(127);
}

/* Up to the end, with or without room for it. */
static size_t take_text(int fd, char *ret_text, size_t size)
{
	char rest[512];
	size_t len = 0;
	ssize_t got;

	do {
		bool has_room = len < size - 1;

		got = has_room ? read(fd, ret_text + len, size - 1 - len)
			       : read(fd, rest, sizeof(rest));
		if (has_room && got > 0)
			len += (size_t)got;
	} while (got > 0 || (got < 0 && errno == EINTR));
	ret_text[len] = '\0';
	return len;
}

int command_run(const struct command_line *line, char *ret_text, size_t size, size_t *ret_len,
	struct err *err)
{
	int out[2];
	int failed[2];
	int status = -1;
	int why = 0;
	size_t len = 0;
	pid_t pid;

	ret_text[0] = '\0';
	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(failed, O_CLOEXEC) < 0)
		return err_sys(err, "pipe");
	pid = fork();
	if (pid == 0)
		start(line, out[1], failed[1]);
	close(out[1]);
	close(failed[1]);
	if (pid > 0)
		len = take_text(out[0], ret_text, size);
	if (read(failed[0], &why, sizeof(why)) == sizeof(why)) {
		errno = why;
		(void)err_sys(err, "%s", line->argv[0]);
	}
	close(out[0]);
	close(failed[0]);
	if (pid < 0)
		return err_sys(err, "fork");
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (ret_len)
		*ret_len = len;
	return why ? -1 : status;
}
