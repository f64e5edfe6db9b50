#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/server_parts.h"
#include "store/store.h"
#include "tests/check.h"
#include "tests/unit/house.h"

/* The outcome of the only run in the store, after the daemon has ended. */
static void is_recorded(struct house *house, const char *outcome)
{
	struct store_filter filter = { .all_callers = true, .limit = 10 };
	struct value *page = NULL;
	const struct value *runs;
	struct err err = ERR_INIT;
	struct store *store = store_open(house->folder, STORE_READ, &err);

	CHECK(store != NULL);
	CHECK_EQ_INT(store_list(store, &filter, &house->arena, &page, &err), 0);
	runs = value_get(page, "runs");
	CHECK_EQ_INT(runs->list.count, 1);
	CHECK_STR(value_as_text(value_get(value_at(runs, 0), "outcome")), outcome);
	store_close(store);
}

TEST(a_daemon_with_nothing_to_do_ends_when_it_is_told_to)
{
	struct house house;

	CHECK(house_ready(&house, ""));
	CHECK_EQ_INT(house_end(&house), 0);
	CHECK(access(house.socket, F_OK) < 0);
	house_close(&house);
}

TEST(a_daemon_ends_although_nobody_ever_answered_it)
{
	struct house house;

	CHECK(house_open(&house, ""));
	CHECK_EQ_INT(house_end(&house), 0);
	house_close(&house);
}

TEST(a_run_goes_all_the_way_and_its_record_is_there_before_its_answer)
{
	struct house house;
	struct reply reply;
	int client;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	CHECK(house_send(client, 7, "run", "{\"language\":\"python\",\"code\":\"print(1)\"}"));
	CHECK(house_program(&house, "1\n", 0));
	CHECK(house_hear(&house, client, &reply));
	CHECK_EQ_INT(reply.msgid, 7);
	CHECK_STR(house_text(&reply, "outcome"), "ok");
	CHECK(value_equal(value_get(reply.value, "stdout"), value_text(&house.arena, "1\n")));
	CHECK_EQ_INT(house.seen, 1);
	CHECK(house_next(&house));
	is_recorded(&house, "ok");
	close(client);
	house_close(&house);
}

TEST(what_still_runs_when_the_daemon_is_told_twice_is_cancelled_answered_and_recorded)
{
	struct house house;
	struct reply reply;
	int client;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	CHECK(house_send(client, 7, "run", "{\"language\":\"python\",\"code\":\"print(1)\"}"));
	CHECK(house_at_worker(&house));
	CHECK_EQ_INT(raise(SIGTERM), 0);
	house_turn(&house, 20);
	CHECK(house.server->state.draining);
	CHECK(house_call(
		&house, client, "run", "{\"language\":\"python\",\"code\":\"1\"}", &reply));
	CHECK_STR(reply.code, "draining");
	CHECK_EQ_INT(raise(SIGINT), 0);
	house_turn(&house, 20);
	CHECK(played_ended(&house.worker, SIGKILL));
	CHECK(house_hear(&house, client, &reply));
	CHECK_STR(house_text(&reply, "outcome"), "canceled");
	CHECK_EQ_INT(house_end(&house), 0);
	is_recorded(&house, "canceled");
	close(client);
	house_close(&house);
}

/* Up to three signals: drain, cancel, and exit without the runs that have not ended. */
static void insist(struct house *house)
{
	for (int i = 0; i < 3 && !house->server->state.closing; i++) {
		CHECK_EQ_INT(raise(SIGTERM), 0);
		house_turn(house, 10);
	}
	CHECK(house->server->state.closing);
}

TEST(a_run_whose_program_nobody_has_read_is_cancelled_told_and_recorded_at_the_end)
{
	struct house house;
	struct reply reply;
	int client;

	CHECK(house_open(&house, ""));
	client = house_connect(&house);
	CHECK(house_send(client, 7, "run", "{\"language\":\"python\",\"code\":\"print(1)\"}"));
	house_turn(&house, 20);
	insist(&house);
	CHECK(check_ok());
	CHECK(house_hear(&house, client, &reply));
	CHECK_STR(house_text(&reply, "outcome"), "canceled");
	CHECK_STR(house_text(&reply, "ran"), "no");
	CHECK_EQ_INT(house_end(&house), 0);
	is_recorded(&house, "canceled");
	close(client);
	house_close(&house);
}

TEST(a_run_that_waits_for_a_worker_is_cancelled_told_and_recorded_at_the_end)
{
	struct house house;
	struct reply reply;
	int client;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	CHECK(house_send(client, 7, "run", "{\"language\":\"python\",\"code\":\"print(1)\"}"));
	CHECK(house_at_worker(&house));
	CHECK(house_send(client, 8, "run", "{\"language\":\"python\",\"code\":\"print(2)\"}"));
	for (int tries = 0; tries < 250 && house.server->queue.users.waiting_count == 0; tries++)
		house_turn(&house, 20);
	CHECK_EQ_INT(house.server->queue.users.waiting_count, 1);
	insist(&house);
	CHECK(check_ok());
	for (int i = 0; i < 2; i++) {
		CHECK(house_hear(&house, client, &reply));
		CHECK_STR(house_text(&reply, "outcome"), "canceled");
	}
	CHECK_EQ_INT(house_end(&house), 0);
	close(client);
	house_close(&house);
}

TEST(a_run_whose_death_nobody_tells_is_cancelled_told_and_recorded_at_the_end)
{
	struct house house;
	struct reply reply;
	int client;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	CHECK(house_send(client, 7, "run", "{\"language\":\"python\",\"code\":\"print(1)\"}"));
	CHECK(house_at_worker(&house));
	insist(&house);
	CHECK(check_ok());
	CHECK(house_hear(&house, client, &reply));
	CHECK_STR(house_text(&reply, "outcome"), "canceled");
	CHECK_EQ_INT(house_end(&house), 0);
	is_recorded(&house, "canceled");
	close(client);
	house_close(&house);
}

TEST(a_daemon_without_its_spawner_cancels_everything_and_leaves_with_a_failure)
{
	struct house house;
	struct reply reply;
	int client;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	CHECK(house_send(client, 7, "run", "{\"language\":\"python\",\"code\":\"print(1)\"}"));
	CHECK(house_at_worker(&house));
	close(house.play.spawner);
	house.play.spawner = -1;
	house_turn(&house, 20);
	CHECK(played_ended(&house.worker, SIGKILL));
	CHECK(house_hear(&house, client, &reply));
	CHECK_STR(house_text(&reply, "outcome"), "canceled");
	CHECK_EQ_INT(house_end(&house), 1);
	is_recorded(&house, "canceled");
	close(client);
	house_close(&house);
}

TEST(a_question_to_the_store_that_comes_home_after_the_end_harms_nobody)
{
	struct house house;
	int client;

	CHECK(house_ready(&house, ""));
	client = house_connect(&house);
	house_turn(&house, 0);
	for (uint32_t i = 0; i < 8; i++)
		CHECK(house_send(client, i, "admin.status", "{}"));
	for (int i = 0; i < 2; i++)
		(void)uv_run(&house.server->loop, UV_RUN_NOWAIT);
	CHECK_EQ_INT(house_end(&house), 0);
	close(client);
	house_close(&house);
}

TEST(a_child_that_is_nobodys_may_end)
{
	struct house house;

	CHECK(house_ready(&house, ""));
	CHECK(playing_exited(&house.play, 4711, SIGKILL));
	house_turn(&house, 5);
	CHECK(!house.server->state.draining);
	house_close(&house);
}

/* ---- failing starts: each in its own process, which takes with it what it made -------------- */

struct start {
	const char *settings;
	uint32_t host; /* enum priv_cgroup of memory, pids and cpu */
	bool refuses;  /* the runtime */
	const char *state;
	const char *why; /* part of the reason */
};

static int try_start(const struct start *start)
{
	static const uint32_t asked[] = { PRIV_HELLO, PRIV_RUNTIME, PRIV_RUNTIME, PRIV_SEAL };
	static struct priv_msg answer;
	char path[] = "/tmp/ced-start-XXXXXX";
	struct playing play = { 0 };
	int fd = mkstemp(path);
	int ends[2];
	struct err err = ERR_INIT;
	struct server_options options = { { path, "/tmp/ced-start.sock", start->state, false },
		"/l", -1 };

	if (fd < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0 ||
		write(fd, start->settings, strlen(start->settings)) < 0)
		return 1;
	options.spawner_fd = ends[0];
	play.spawner = ends[1];
	for (uint32_t i = 0; i < COUNT_OF(asked); i++) {
		uint32_t op = asked[i];
		struct priv_msg question = { .op = op, .sequence = i + 1 };

		answer = (struct priv_msg){ .op = op };
		if (op == PRIV_HELLO)
			answer.body.host = (struct priv_host){ PRIV_MODE_USER, start->host,
				start->host, start->host, 0, 1, "no cgroups here" };
		if (op == PRIV_RUNTIME && start->refuses)
			answer.error = ERR_DENIED;
		if (!playing_answer(&play, &question, &answer, NULL, 0))
			return 1;
	}
	if (server_start(&options, &err))
		return 2;
	(void)unlink(path);
	return strstr(err.text, start->why) ? 0 : 3;
}

static void refuses_to_start(struct start start)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(try_start(&start));
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK_EQ_INT(status, 0);
}

TEST(a_host_without_cgroups_is_refused_unless_the_settings_allow_it)
{
	refuses_to_start((struct start){ "", PRIV_CGROUP_NONE, false, "/nowhere", "no cgroups" });
	refuses_to_start((struct start){ "cgroups = \"auto\"\n", PRIV_CGROUP_NONE, false,
		"/nowhere/at/all", "/nowhere/at/all" });
}

TEST(a_layer_that_is_required_by_name_is_missed_by_name)
{
	refuses_to_start((struct start){ "cgroups = \"auto\" require = {\"pids\"}\n",
		PRIV_CGROUP_NONE, false, "/", "not here: pids (no cgroups here)" });
	refuses_to_start((struct start){
		"require = {\"uids\"}\n", PRIV_CGROUP_V2, false, "/", "not here: uids" });
	refuses_to_start((struct start){
		"require = {\"moon\"}\n", PRIV_CGROUP_V2, false, "/", "no layer \"moon\"" });
}

TEST(a_daemon_says_what_it_could_not_start)
{
	refuses_to_start(
		(struct start){ "queue_max = 0\n", PRIV_CGROUP_V2, false, "/", "queue_max" });
	refuses_to_start((struct start){ "", PRIV_CGROUP_V2, true, "/", "runtime python" });
	refuses_to_start(
		(struct start){ "policy = \"none\"\n", PRIV_CGROUP_V2, false, "/", "none" });
	refuses_to_start((struct start){ "", PRIV_CGROUP_V2, false, "/proc/1/x", "/proc/1/x" });
}
