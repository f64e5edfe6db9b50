#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/loop/service_manager.h"
#include "proto/base/cleanup.h"
#include "tests/check.h"

static void say_pid(const char *name)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%d", getpid());
	CHECK_EQ_INT(setenv(name, text, 1), 0);
}

/* The descriptor.  -1: none; -2: refused. */
static int handed_over(void)
{
	int fd = -2;

	return host_listen_fd(&fd, NULL) < 0 ? -2 : fd;
}

TEST(without_a_service_manager_nothing_is_handed_over_and_nobody_is_told)
{
	(void)unsetenv("LISTEN_FDS");
	(void)unsetenv("NOTIFY_SOCKET");
	(void)unsetenv("WATCHDOG_USEC");
	CHECK_EQ_INT(handed_over(), -1);
	CHECK_EQ_INT(host_watchdog_ms(), 0);
	host_ready();
	host_alive();
	host_stopping();
}

TEST(a_socket_that_was_handed_to_this_process_is_taken_and_one_for_another_is_not)
{
	bool ours = fcntl(3, F_GETFD) < 0 && dup2(STDERR_FILENO, 3) == 3;

	CHECK_EQ_INT(setenv("LISTEN_FDS", "1", 1), 0);
	say_pid("LISTEN_PID");
	CHECK_EQ_INT(handed_over(), 3);
	CHECK_EQ_INT(setenv("LISTEN_PID", "1", 1), 0);
	CHECK_EQ_INT(handed_over(), -1);
	say_pid("LISTEN_PID");
	CHECK_EQ_INT(setenv("LISTEN_FDS", "0", 1), 0);
	CHECK_EQ_INT(handed_over(), -1);
	CHECK_EQ_INT(setenv("LISTEN_FDS", "2", 1), 0);
	CHECK_EQ_INT(handed_over(), -2);
	CHECK_EQ_INT(setenv("LISTEN_FDS", "1x", 1), 0);
	CHECK_EQ_INT(handed_over(), -1);
	(void)unsetenv("LISTEN_FDS");
	(void)unsetenv("LISTEN_PID");
	if (ours)
		close(3);
}

TEST(the_watchdog_is_fed_four_times_in_its_time)
{
	CHECK_EQ_INT(setenv("WATCHDOG_USEC", "10000000", 1), 0);
	say_pid("WATCHDOG_PID");
	CHECK_EQ_INT(host_watchdog_ms(), 2500);
	(void)unsetenv("WATCHDOG_USEC");
	(void)unsetenv("WATCHDOG_PID");
}

/* Makes a service manager's socket.  It has an abstract name, so nothing is left behind. */
static void manager_socket(int *ret_fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char name[32];

	*ret_fd = sock;
	(void)snprintf(name, sizeof(name), "@ced-host-%d", getpid());
	(void)strcpy(address.sun_path + 1, name + 1);
	CHECK_EQ_INT(bind(sock, (const struct sockaddr *)&address,
			     (socklen_t)(sizeof(sa_family_t) + strlen(name))),
		0);
	CHECK_EQ_INT(setenv("NOTIFY_SOCKET", name, 1), 0);
}

TEST(a_manager_that_does_not_read_is_not_waited_for)
{
	auto_fd int sock = -1;
	char text[64] = "";

	manager_socket(&sock);
	for (int i = 0; i < 10000; i++)
		host_alive();
	host_ready();
	CHECK(recv(sock, text, sizeof(text) - 1, MSG_DONTWAIT) > 0);
	CHECK_STR(text, "WATCHDOG=1");
	(void)unsetenv("NOTIFY_SOCKET");
}

TEST(the_manager_hears_each_word)
{
	static void (*const say[])(void) = { host_ready, host_alive, host_stopping };
	static const char *const hoped[] = { "READY=1", "WATCHDOG=1", "STOPPING=1" };
	auto_fd int sock = -1;

	manager_socket(&sock);
	for (int i = 0; i < 3; i++) {
		char text[64] = "";

		say[i]();
		CHECK(recv(sock, text, sizeof(text) - 1, MSG_DONTWAIT) > 0);
		CHECK_STR(text, hoped[i]);
	}
	(void)unsetenv("NOTIFY_SOCKET");
}
