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

TEST(without_a_service_manager_nothing_is_handed_over_and_nobody_is_told)
{
	(void)unsetenv("LISTEN_FDS");
	(void)unsetenv("NOTIFY_SOCKET");
	(void)unsetenv("WATCHDOG_USEC");
	CHECK_EQ_INT(host_listen_fd(), -1);
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
	CHECK_EQ_INT(host_listen_fd(), 3);
	CHECK_EQ_INT(setenv("LISTEN_PID", "1", 1), 0);
	CHECK_EQ_INT(host_listen_fd(), -1);
	CHECK_EQ_INT(setenv("LISTEN_FDS", "0", 1), 0);
	say_pid("LISTEN_PID");
	CHECK_EQ_INT(host_listen_fd(), -1);
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

TEST(the_manager_hears_each_word)
{
	static void (*const say[])(void) = { host_ready, host_alive, host_stopping };
	static const char *const hoped[] = { "READY=1", "WATCHDOG=1", "STOPPING=1" };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	auto_fd int sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char name[32];

	/* An abstract name: nothing is left behind. */
	(void)snprintf(name, sizeof(name), "@ced-host-%d", getpid());
	(void)strcpy(address.sun_path + 1, name + 1);
	CHECK_EQ_INT(bind(sock, (const struct sockaddr *)&address,
			     (socklen_t)(sizeof(sa_family_t) + strlen(name))),
		0);
	CHECK_EQ_INT(setenv("NOTIFY_SOCKET", name, 1), 0);
	for (int i = 0; i < 3; i++) {
		char text[64] = "";

		say[i]();
		CHECK(recv(sock, text, sizeof(text) - 1, MSG_DONTWAIT) > 0);
		CHECK_STR(text, hoped[i]);
	}
	(void)unsetenv("NOTIFY_SOCKET");
}
