#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/base/fdio.h"
#include "sandbox/spawner/spawner.h"
#include "tests/check.h"

/*
 * The messages of the spawner without jails; tests/jail/jail_spawner.t has the jails.  One process
 * plays both sides: the daemon's message is in the socket before the spawner serves it.
 */

static struct spawner spawner;
static struct priv_msg msg;
static struct err err = ERR_INIT;
static int daemon_end;

static bool begin(void)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return false;
	memset(&spawner, 0, sizeof(spawner));
	for (size_t i = 0; i < PRIV_CHILDREN_MAX; i++)
		spawner.residents[i].child = (struct child)CHILD_INIT;
	spawner.sock = pair[0];
	spawner.phase = PRIV_GREETING;
	spawner.mode = PRIV_MODE_USER;
	cut_printf(spawner.helpers[0], sizeof(spawner.helpers[0]), "/no/such/inspector");
	daemon_end = pair[1];
	return true;
}

static void end(void)
{
	close(spawner.sock);
	close(daemon_end);
}

static struct priv_msg *request(enum priv_op op)
{
	memset(&msg, 0, sizeof(msg));
	msg.op = op;
	msg.sequence = 41;
	return &msg;
}

/* Returns what spawner_serve() returned; its answer, if any, is in msg. */
static int serve(int fd)
{
	int fds[PRIV_FDS_MAX];
	unsigned fd_count = 0;
	int served;

	if (priv_send(daemon_end, &msg, &fd, fd >= 0, &err) < 0)
		return -2;
	served = spawner_serve(&spawner, &err);
	if (served > 0 && priv_recv(daemon_end, false, &msg, fds, &fd_count, &err) <= 0)
		return -3;
	close_fds(fds, fd_count);
	return served;
}

static bool reach(enum priv_phase phase)
{
	if (!begin())
		return false;
	request(PRIV_HELLO);
	if (phase >= PRIV_CONFIGURING && serve(-1) != 1)
		return false;
	request(PRIV_SEAL);
	if (phase >= PRIV_SERVING && serve(-1) != 1)
		return false;
	return spawner.phase == phase;
}

TEST(hello_comes_first_and_is_answered_with_what_the_host_gives)
{
	CHECK(begin());
	request(PRIV_HELLO);
	CHECK_EQ_INT(serve(-1), 1);
	CHECK(msg.is_answer && msg.error == 0);
	CHECK_EQ_INT(msg.sequence, 41);
	CHECK_EQ_INT(msg.body.host.mode, PRIV_MODE_USER);
	CHECK_EQ_INT(spawner.phase, PRIV_CONFIGURING);
	end();
}

TEST(an_operation_out_of_turn_ends_the_conversation)
{
	static const struct {
		enum priv_phase phase;
		enum priv_op op;
	} rows[] = {
		{ PRIV_GREETING, PRIV_RUNTIME },
		{ PRIV_GREETING, PRIV_SEAL },
		{ PRIV_GREETING, PRIV_KILL },
		{ PRIV_CONFIGURING, PRIV_HELLO },
		{ PRIV_CONFIGURING, PRIV_SLOT },
		{ PRIV_CONFIGURING, PRIV_KILL },
		{ PRIV_SERVING, PRIV_HELLO },
		{ PRIV_SERVING, PRIV_RUNTIME },
		{ PRIV_SERVING, PRIV_SEAL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK(reach(rows[i].phase));
		request(rows[i].op);
		CHECK_EQ_INT(serve(-1), -1);
		CHECK_EQ_INT(err.code, ERR_PROTOCOL);
		CHECK(strstr(err.text, "out of turn"));
		end();
	}
}

TEST(garbage_ends_the_conversation)
{
	CHECK(reach(PRIV_SERVING));
	CHECK(send(daemon_end, "garbage", 7, 0) == 7);
	CHECK_EQ_INT(spawner_serve(&spawner, &err), -1);
	CHECK_EQ_INT(err.code, ERR_PROTOCOL);
	end();
}

TEST(a_daemon_that_has_gone_is_no_failure)
{
	CHECK(reach(PRIV_SERVING));
	close(daemon_end);
	CHECK_EQ_INT(spawner_serve(&spawner, &err), 0);
	close(spawner.sock);
}

TEST(what_cannot_be_done_is_answered_with_the_reason)
{
	CHECK(reach(PRIV_SERVING));
	request(PRIV_KILL)->id = 7;
	CHECK_EQ_INT(serve(-1), 1);
	CHECK_EQ_INT(msg.error, ERR_MISSING);
	CHECK_STR(msg.text, "there is no child 7");
	request(PRIV_SLOT)->body.slot = (struct priv_slot){ 7, 0 };
	CHECK_EQ_INT(serve(-1), 1);
	CHECK_EQ_INT(msg.error, ERR_MISSING);
	CHECK_EQ_INT(spawner.phase, PRIV_SERVING);
	end();
}

TEST(a_seal_that_is_refused_does_not_open_the_next_phase)
{
	CHECK(reach(PRIV_CONFIGURING));
	request(PRIV_RUNTIME)->body.runtime.kind = 99;
	CHECK_EQ_INT(serve(-1), 1);
	CHECK(msg.error != 0);
	CHECK_EQ_INT(spawner.phase, PRIV_CONFIGURING);
	CHECK_EQ_INT(spawner.runtime_count, 0);
	end();
}

static unsigned open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		(void)closedir(dir);
	return count;
}

TEST(descriptors_of_refused_requests_are_closed)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	unsigned before;

	CHECK(null >= 0 && reach(PRIV_SERVING));
	before = open_fds();
	for (int i = 0; i < 100; i++) {
		request(PRIV_ZYGOTE)->body.zygote = (struct priv_zygote){ 3, 1 };
		CHECK_EQ_INT(serve(null), 1);
		CHECK_EQ_INT(msg.error, ERR_MISSING);
		request(PRIV_INSPECTOR)->body.inspector = (struct priv_inspector){ 1, 1 };
		CHECK_EQ_INT(serve(null), 1);
		CHECK_EQ_INT(msg.error, ERR_INVALID);
	}
	CHECK_EQ_INT(open_fds(), before);
	request(PRIV_RUNTIME);
	CHECK_EQ_INT(serve(-1), -1);
	CHECK_EQ_INT(open_fds(), before);
	close(null);
	end();
}

TEST(a_jail_that_does_not_start_leaves_its_place_free)
{
	unsigned before = open_fds();

	CHECK(reach(PRIV_SERVING));
	for (int i = 0; i < 3; i++) {
		request(PRIV_INSPECTOR)->body.inspector = (struct priv_inspector){ 64U << 20, 5 };
		CHECK_EQ_INT(serve(daemon_end), 1);
		CHECK(msg.error != 0 && strstr(msg.text, "inspector"));
		CHECK_EQ_INT(spawner_tidy(&spawner, &err), 0);
		CHECK_EQ_INT(spawner.residents[0].id, 0);
	}
	end();
	CHECK_EQ_INT(open_fds(), before);
}

TEST(a_jail_gets_a_local_socket_and_nothing_else)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	CHECK(null >= 0 && reach(PRIV_SERVING));
	request(PRIV_INSPECTOR)->body.inspector = (struct priv_inspector){ 64U << 20, 5 };
	CHECK_EQ_INT(serve(null), 1);
	CHECK_EQ_INT(msg.error, ERR_INVALID);
	CHECK_STR(msg.text, "a jail needs a local socket");
	close(null);
	end();
}

TEST(tidying_an_empty_house_says_nothing)
{
	CHECK(reach(PRIV_SERVING));
	CHECK_EQ_INT(spawner_tidy(&spawner, &err), 0);
	end();
}
