/* Runs in the place of ced-inspector and reports its environment: one "key value" a line. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SOCKET_FD 3

static char text[4096];

static void say(const char *key, const char *value)
{
	size_t len = strlen(text);

	(void)snprintf(text + len, sizeof(text) - len, "%s %s\n", key, value);
}

static void say_number(const char *key, long number)
{
	char value[32];

	(void)snprintf(value, sizeof(value), "%ld", number);
	say(key, value);
}

static void say_try(const char *key, long answer)
{
	say(key, answer >= 0 ? "done" : strerrorname_np(errno));
}

static void say_fds(void)
{
	char list[256] = "";

	for (int fd = 0; fd < 1024; fd++) {
		size_t len = strlen(list);

		if (fcntl(fd, F_GETFD) >= 0)
			(void)snprintf(list + len, sizeof(list) - len, len ? ",%d" : "%d", fd);
	}
	say("fds", list);
}

int main(void)
{
	struct stat stat_of;

	say("inspector", "1");
	say_fds();
	say_number("pid", getpid());
	say_try("canary", stat("/tmp/ced-canary", &stat_of));
	say_try("passwd", stat("/etc/passwd", &stat_of));
	say_try("proc", stat("/proc", &stat_of));
	say_try("mkdir", mkdir("/new", 0700));
	say_try("open.write", open("/new", O_WRONLY | O_CREAT, 0600));
	say_try("socket", socket(AF_UNIX, SOCK_STREAM, 0));
	say_try("fork", syscall(SYS_fork));
	say_try("memory", mmap(NULL, 1U << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0) == MAP_FAILED
				  ? -1
				  : 0);
	(void)strcat(text, "end\n");
	if (write(SOCKET_FD, text, strlen(text)) < 0)
		return 1;
	return read(SOCKET_FD, text, 1) < 0; /* until the daemon closes its end */
}
