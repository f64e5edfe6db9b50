/*
 * A request's life, stage by stage: where it can wait, what cancelling does there, and that the
 * daemon frees all of it at its end.  pipeline.c has the table of stages, request.h the diagram.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "daemon/request/pipeline.h"
#include "daemon/server_parts.h"
#include "proto/base/clock.h"
#include "tests/check.h"
#include "tests/unit/house.h"

#define PATIENCE_MS 30000
#define MSGID       7U

static const char RUN[] = "{\"language\":\"python\",\"code\":\"print(1)\"}";
static const char RUN_WITH_ID[] = "{\"language\":\"python\",\"code\":\"print(1)\",\"id\":\"once\"}";
static const char RUN_CACHED[] =
	"{\"language\":\"python\",\"code\":\"print(1)\",\"cache\":\"use\"}";

/* ---- the table -------------------------------------------------------------------------------- */

/* The stages that can be reached from `from`, including itself, one bit each. */
static unsigned reach(enum stage from)
{
	unsigned reached = 1U << from;
	unsigned before;

	do {
		before = reached;
		for (unsigned stage = 0; stage <= STAGE_EXIT; stage++)
			for (unsigned next = 0; next <= STAGE_EXIT; next++)
				if ((reached & (1U << stage)) &&
					stage_leads_to((enum stage)stage, (enum stage)next))
					reached |= 1U << next;
	} while (reached != before);
	return reached;
}

TEST(every_stage_is_reached_and_leads_to_the_exit)
{
	unsigned all = (1U << (STAGE_EXIT + 1)) - 1;

	CHECK_EQ_INT(reach(STAGE_CONTRACT), all);
	for (unsigned stage = 0; stage <= STAGE_EXIT; stage++)
		CHECK(reach((enum stage)stage) & (1U << STAGE_EXIT));
	CHECK_EQ_INT(reach(STAGE_EXIT), 1U << STAGE_EXIT);
}

TEST(nothing_comes_before_its_turn_but_what_a_person_let_run)
{
	for (unsigned stage = 0; stage <= STAGE_EXIT; stage++)
		for (unsigned next = 0; next <= stage; next++)
			CHECK_EQ_INT(stage_leads_to((enum stage)stage, (enum stage)next),
				stage == STAGE_APPROVAL && next == STAGE_CONTRACT);
}

/* ---- where a request waits -------------------------------------------------------------------- */

static int has_msgid(void *context, struct request *request)
{
	struct request **found = context;

	if (request->msgid == MSGID)
		*found = request;
	return request->msgid == MSGID;
}

/* The request under test if it waits in this stage; NULL: it does not. */
static struct request *waits_in(struct house *house, enum stage stage)
{
	int64_t until = clock_ms() + PATIENCE_MS;

	while (clock_ms() < until) {
		struct request *request = NULL;

		(void)registry_each(&house->server->runs, has_msgid, &request);
		if (request && request_waits_in(request, stage))
			return request;
		house_turn(house, 0);
	}
	return NULL;
}

/* Returns whether no part of the daemon keeps anything of any request. */
static bool is_clean(struct house *house)
{
	struct server *server = house->server;
	int64_t until = clock_ms() + PATIENCE_MS;

	while (registry_count(&server->runs) && clock_ms() < until)
		house_turn(house, 0);
	return !registry_count(&server->runs) && !server->queue.users.waiting_count &&
	       list_is_empty(&server->queue.users.lanes) && !server->approvals.count &&
	       !server->claims.map.count && !server->state.examining;
}

/* The client cancels its run; the run's reply says so. */
static bool cancel(struct house *house, int client, struct reply *ret_reply)
{
	struct reply other;

	if (!house_send(client, 1, "cancel", "{\"msgid\":7}"))
		return false;
	for (;;) {
		if (!house_hear(house, client, &other))
			return false;
		if (other.msgid == MSGID)
			*ret_reply = other;
		else if (other.msgid == 1)
			return other.code == NULL;
	}
}

static bool hears_outcome(struct house *house, int client, struct reply *reply, const char *outcome)
{
	if (!reply->msgid && !house_hear(house, client, reply))
		return false;
	return reply->msgid == MSGID && strcmp(house_text(reply, "outcome"), outcome) == 0;
}

/* A client whose run waits in a stage. */
struct scene {
	struct house house;
	struct reply reply;
	int client;
};

/* A thread computes the digest of the runtime's files. */
static bool knows_runtime(struct house *house)
{
	int64_t until = clock_ms() + PATIENCE_MS;

	while (!house->server->pool.runtimes[0].digest[0] && clock_ms() < until)
		house_turn(house, 0);
	return house->server->pool.runtimes[0].digest[0] != '\0';
}

static bool set_scene(struct scene *scene, bool is_warm, const char *settings)
{
	memset(&scene->reply, 0, sizeof(scene->reply));
	if (!(is_warm ? house_ready : house_open)(&scene->house, settings) ||
		(is_warm && !knows_runtime(&scene->house)))
		return false;
	scene->client = house_connect(&scene->house);
	return scene->client >= 0;
}

static bool send_run(struct scene *scene, const char *params)
{
	return house_send(scene->client, MSGID, "run", params);
}

static void end_scene(struct scene *scene)
{
	close(scene->client);
	house_close(&scene->house);
}

/* ---- busy threads ---------------------------------------------------------------------------- */

/*
 * Work for this user that keeps busy every thread the user may have, so that the next work waits.
 */
struct blockade {
	atomic_bool is_over;
	atomic_uint left;
};

static void block(void *context)
{
	struct blockade *blockade = context;

	while (!atomic_load(&blockade->is_over))
		(void)usleep(1000);
}

static void unblocked(void *context)
{
	struct blockade *blockade = context;

	atomic_fetch_sub(&blockade->left, 1);
}

static bool hold_threads(struct house *house, struct blockade *blockade)
{
	atomic_init(&blockade->is_over, false);
	atomic_init(&blockade->left, 0);
	for (unsigned i = 0; i < THREAD_WORK_PER_USER; i++) {
		if (thread_work_start(
			    &house->server->thread_work, getuid(), block, unblocked, blockade) < 0)
			return false;
		atomic_fetch_add(&blockade->left, 1);
	}
	return true;
}

static void let_threads_go(struct house *house, struct blockade *blockade)
{
	atomic_store(&blockade->is_over, true);
	while (atomic_load(&blockade->left))
		house_turn(house, 0);
}

/* Cancels a run that waits for a thread in this stage, then frees the threads. */
static void cancel_at_thread(const char *params, enum stage stage, const char *outcome)
{
	struct blockade blockade;
	struct scene scene;

	CHECK(set_scene(&scene, true, ""));
	CHECK(hold_threads(&scene.house, &blockade));
	CHECK(send_run(&scene, params));
	CHECK(waits_in(&scene.house, stage));
	CHECK(house_send(scene.client, 1, "cancel", "{\"msgid\":7}"));
	house_turn(&scene.house, 20);
	CHECK(waits_in(&scene.house, stage)); /* the thread's work must end first */
	let_threads_go(&scene.house, &blockade);
	CHECK(house_hear(&scene.house, scene.client, &scene.reply));
	while (scene.reply.msgid != MSGID)
		CHECK(house_hear(&scene.house, scene.client, &scene.reply));
	CHECK(hears_outcome(&scene.house, scene.client, &scene.reply, outcome));
	CHECK_STR(house_text(&scene.reply, "ran"), "no");
	CHECK(is_clean(&scene.house));
	end_scene(&scene);
}

TEST(one_that_the_store_looks_up_is_cancelled_when_the_store_has_answered)
{
	cancel_at_thread(RUN_WITH_ID, STAGE_REPEAT, "canceled");
}

TEST(one_whose_chosen_id_is_looked_up_is_cancelled_when_the_store_has_answered)
{
	struct ulid_source ids = { 0 };
	char run_id[RUN_ID_LEN + 1];
	char params[128];
	struct err err = ERR_INIT;

	CHECK_EQ_INT(ulid_next(&ids, run_id, &err), 0);
	(void)snprintf(params, sizeof(params),
		"{\"language\":\"python\",\"code\":\"print(1)\",\"run_id\":\"%s\"}", run_id);
	cancel_at_thread(params, STAGE_CONTRACT, "canceled");
}

TEST(one_whose_result_may_be_known_is_cancelled_when_the_store_has_answered)
{
	cancel_at_thread(RUN_CACHED, STAGE_CACHE, "canceled");
}

/* ---- another request with its id ------------------------------------------------------------- */

TEST(one_that_waits_for_another_with_its_id_is_cancelled_alone)
{
	struct scene scene;
	struct reply first;

	CHECK(set_scene(&scene, true, ""));
	CHECK(house_send(scene.client, 3, "run", RUN_WITH_ID));
	CHECK(house_at_worker(&scene.house));
	CHECK(send_run(&scene, RUN_WITH_ID));
	CHECK(waits_in(&scene.house, STAGE_REPEAT));
	CHECK(cancel(&scene.house, scene.client, &scene.reply));
	CHECK(hears_outcome(&scene.house, scene.client, &scene.reply, "canceled"));
	CHECK(house_program(&scene.house, "1\n", 0));
	CHECK(house_hear(&scene.house, scene.client, &first));
	CHECK_EQ_INT(first.msgid, 3);
	CHECK_STR(house_text(&first, "outcome"), "ok");
	CHECK(is_clean(&scene.house));
	end_scene(&scene);
}

/* ---- an inspector ----------------------------------------------------------------------------- */

TEST(one_whose_program_no_inspector_has_begun_to_read_is_cancelled_at_once)
{
	struct scene scene;

	CHECK(set_scene(&scene, false, "")); /* without an inspector */
	CHECK(send_run(&scene, RUN));
	CHECK(waits_in(&scene.house, STAGE_POLICY));
	CHECK(cancel(&scene.house, scene.client, &scene.reply));
	CHECK(hears_outcome(&scene.house, scene.client, &scene.reply, "canceled"));
	CHECK_STR(house_text(&scene.reply, "ran"), "no");
	CHECK(is_clean(&scene.house));
	end_scene(&scene);
}

TEST(a_check_whose_client_leaves_is_not_read_any_more)
{
	struct scene scene;

	CHECK(set_scene(&scene, false, ""));
	CHECK(house_send(scene.client, MSGID, "check", RUN));
	CHECK(waits_in(&scene.house, STAGE_POLICY));
	close(scene.client);
	CHECK(is_clean(&scene.house));
	scene.client = house_connect(&scene.house);
	end_scene(&scene);
}

/* ---- the store -------------------------------------------------------------------------------- */

/* Another process writes into the store: until it ends, the daemon cannot record anything. */
static sqlite3 *hold_store(const struct house *house)
{
	char path[96];
	sqlite3 *db = NULL;

	(void)snprintf(path, sizeof(path), "%s/ced.db", house->folder);
	/* The recorder keeps a transaction open for a moment: GATHER_MS. */
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
		sqlite3_busy_timeout(db, 10000) != SQLITE_OK ||
		sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK) {
		sqlite3_close(db);
		return NULL;
	}
	return db;
}

TEST(one_that_is_being_put_on_the_record_is_cancelled_when_it_is_there)
{
	struct scene scene;
	sqlite3 *db;

	CHECK(set_scene(&scene, true, ""));
	db = hold_store(&scene.house);
	CHECK(db);
	CHECK(send_run(&scene, RUN_WITH_ID));
	CHECK(waits_in(&scene.house, STAGE_BEGIN));
	CHECK(house_send(scene.client, 1, "cancel", "{\"msgid\":7}"));
	house_turn(&scene.house, 20);
	CHECK(waits_in(&scene.house, STAGE_BEGIN));
	sqlite3_close(db);
	do
		CHECK(house_hear(&scene.house, scene.client, &scene.reply));
	while (scene.reply.msgid != MSGID);
	CHECK(hears_outcome(&scene.house, scene.client, &scene.reply, "canceled"));
	CHECK_STR(house_text(&scene.reply, "ran"), "no");
	CHECK(is_clean(&scene.house));
	end_scene(&scene);
}

TEST(one_whose_end_is_being_recorded_keeps_its_end)
{
	struct scene scene;
	sqlite3 *db;

	CHECK(set_scene(&scene, true, ""));
	CHECK(send_run(&scene, RUN));
	CHECK(house_at_worker(&scene.house));
	db = hold_store(&scene.house);
	CHECK(db);
	CHECK(house_program(&scene.house, "1\n", 0));
	CHECK(waits_in(&scene.house, STAGE_RECORD));
	CHECK(house_send(scene.client, 1, "cancel", "{\"msgid\":7}"));
	house_turn(&scene.house, 20);
	sqlite3_close(db);
	do
		CHECK(house_hear(&scene.house, scene.client, &scene.reply));
	while (scene.reply.msgid != MSGID);
	CHECK(hears_outcome(&scene.house, scene.client, &scene.reply, "ok"));
	CHECK(is_clean(&scene.house));
	end_scene(&scene);
}

/* ---- a worker --------------------------------------------------------------------------------- */

TEST(one_that_waits_for_a_worker_is_cancelled_at_once)
{
	struct scene scene;
	struct reply first;

	CHECK(set_scene(&scene, true, ""));
	CHECK(house_send(scene.client, 3, "run", RUN));
	CHECK(house_at_worker(&scene.house));
	CHECK(send_run(&scene, RUN));
	CHECK(waits_in(&scene.house, STAGE_QUEUE));
	CHECK(cancel(&scene.house, scene.client, &scene.reply));
	CHECK(hears_outcome(&scene.house, scene.client, &scene.reply, "canceled"));
	CHECK_STR(house_text(&scene.reply, "ran"), "no");
	CHECK(house_program(&scene.house, "", 0));
	CHECK(house_hear(&scene.house, scene.client, &first));
	CHECK_STR(house_text(&first, "outcome"), "ok");
	CHECK(is_clean(&scene.house));
	end_scene(&scene);
}

TEST(one_that_runs_is_killed_and_says_so)
{
	struct scene scene;

	CHECK(set_scene(&scene, true, ""));
	CHECK(send_run(&scene, RUN));
	CHECK(house_at_worker(&scene.house));
	CHECK(waits_in(&scene.house, STAGE_WORKER));
	CHECK(house_send(scene.client, 1, "cancel", "{\"msgid\":7}"));
	house_turn(&scene.house, 20);
	CHECK(played_ended(&scene.house.worker, SIGKILL));
	do
		CHECK(house_hear(&scene.house, scene.client, &scene.reply));
	while (scene.reply.msgid != MSGID);
	CHECK(hears_outcome(&scene.house, scene.client, &scene.reply, "canceled"));
	CHECK(is_clean(&scene.house));
	end_scene(&scene);
}

/* ---- its output ------------------------------------------------------------------------------- */

TEST(one_whose_output_is_examined_keeps_its_end)
{
	static char output[128 << 10];
	struct blockade blockade;
	struct scene scene;

	memset(output, 'x', sizeof(output) - 1);
	CHECK(set_scene(&scene, true, ""));
	CHECK(send_run(&scene, "{\"language\":\"python\",\"code\":\"print(1)\","
			       "\"limits\":{\"stdout_bytes\":1048576}}"));
	CHECK(house_at_worker(&scene.house));
	CHECK(hold_threads(&scene.house, &blockade));
	CHECK(house_program(&scene.house, output, 0));
	CHECK(waits_in(&scene.house, STAGE_OUTPUT));
	CHECK(house_send(scene.client, 1, "cancel", "{\"msgid\":7}"));
	house_turn(&scene.house, 20);
	CHECK(waits_in(&scene.house, STAGE_OUTPUT));
	let_threads_go(&scene.house, &blockade);
	do
		CHECK(house_hear(&scene.house, scene.client, &scene.reply));
	while (scene.reply.msgid != MSGID);
	CHECK(hears_outcome(&scene.house, scene.client, &scene.reply, "ok"));
	CHECK(is_clean(&scene.house));
	end_scene(&scene);
}
