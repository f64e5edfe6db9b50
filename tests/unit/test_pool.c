#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/settings/config_file.h"
#include "daemon/workers/pool.h"
#include "daemon/workers/worker.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/base/fdio.h"
#include "tests/check.h"
#include "tests/fault.h"
#include "tests/unit/playing.h"

#define UPKEEP_MS 600 /* after this time the pool has done its upkeep */
#define RUNTIME   7   /* the number that the spawner gave to python */

/* A pool with one runtime; the test plays its spawner. */
struct keeper {
	uv_loop_t loop;
	struct playing play;
	struct config config;
	struct spawner_link *link;
	struct pool pool;
	struct arena arena;
	unsigned warm; /* how often on_warm was called */
	bool spawner_lost;
};

static void on_warm(void *context, struct runtime *runtime)
{
	struct keeper *keeper = context;

	(void)runtime;
	keeper->warm++;
}

static void on_exited(void *context, uint32_t child, int status)
{
	struct keeper *keeper = context;

	(void)pool_child_exited(&keeper->pool, child, status);
}

static void on_lost(void *context, const char *why)
{
	struct keeper *keeper = context;

	(void)why;
	keeper->spawner_lost = true;
}

/* Queues answers in the socket for the questions before the loop runs: a runtime and its twin. */
static bool answer_ahead(struct keeper *keeper, uint32_t error)
{
	static struct priv_msg answer;
	bool answered = true;

	for (uint32_t i = 0; i < 2; i++) {
		struct priv_msg question = { .op = PRIV_RUNTIME, .sequence = 1 + i };

		answer = (struct priv_msg){ .error = (int32_t)error, .text = "no" };
		answer.id = error ? 0 : RUNTIME + i;
		answered = answered && playing_answer(&keeper->play, &question, &answer, NULL, 0);
	}
	return answered;
}

static bool prepare(struct keeper *keeper)
{
	int ends[2];
	struct err err = ERR_INIT;

	memset(keeper, 0, sizeof(*keeper));
	arena_init(&keeper->arena, 65536);
	(void)uv_loop_init(&keeper->loop);
	config_init(&keeper->config);
	keeper->config.workers_min = 1;
	keeper->config.workers_max = 2;
	keeper->config.workers_reserve = 0;
	keeper->play = (struct playing){ .loop = &keeper->loop, .spawner = -1 };
	if (!playing_pair(SOCK_SEQPACKET, ends))
		return false;
	keeper->play.spawner = ends[1];
	(void)fcntl(ends[0], F_SETFL, 0); /* the first questions are synchronous */
	keeper->link = spawner_link_new(ends[0], &err);
	return keeper->link != NULL;
}

static bool configure(struct keeper *keeper)
{
	struct priv_host host = { .mode = PRIV_MODE_USER };
	static struct priv_msg question;
	int none[PRIV_FDS_MAX];
	struct err err = ERR_INIT;

	return answer_ahead(keeper, 0) &&
	       pool_configure(&keeper->pool, &keeper->config, &host, keeper->link, "/libexec",
		       &err) == 0 &&
	       playing_hear(&keeper->play, &question, none) && question.op == PRIV_RUNTIME &&
	       playing_hear(&keeper->play, &question, none) && question.op == PRIV_RUNTIME;
}

static bool start(struct keeper *keeper)
{
	const struct spawner_events events = { on_exited, on_lost, keeper };
	struct err err = ERR_INIT;

	return spawner_link_start(keeper->link, &keeper->loop, &events, &err) == 0 &&
	       pool_start(&keeper->pool, &keeper->loop, on_warm, keeper, &err) == 0;
}

static bool begin(struct keeper *keeper)
{
	return prepare(keeper) && configure(keeper) && start(keeper);
}

static void finish(struct keeper *keeper)
{
	keeper->pool.closing = true;
	spawner_link_close(keeper->link);
	if (keeper->pool.loop)
		pool_close(&keeper->pool);
	else
		free(keeper->pool.runtimes);
	close(keeper->play.spawner);
	(void)uv_run(&keeper->loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&keeper->loop);
	arena_done(&keeper->arena);
}

static struct runtime *python(struct keeper *keeper)
{
	return pool_find(&keeper->pool, "python");
}

static int64_t told(struct keeper *keeper, const char *key)
{
	return value_as_int(value_get(runtime_describe(python(keeper), &keeper->arena), key), -1);
}

/* Makes a warm worker in this slot. */
static bool warm_up(struct keeper *keeper, int slot, struct played *ret_worker)
{
	if (!playing_make(&keeper->play, slot, ret_worker) || !playing_warm(ret_worker))
		return false;
	playing_turn(&keeper->play, 0);
	return true;
}

/* A knob whose file has this text; the test keeps its own descriptor. */
static int knob_of(const char *text, int *ret_ours)
{
	*ret_ours = memfd_create("knob", MFD_CLOEXEC);
	if (write(*ret_ours, text, strlen(text)) < 0)
		check_failed(__FILE__, __LINE__, "write");
	return dup(*ret_ours);
}

TEST(workers_are_made_with_what_most_runs_of_their_runtime_get)
{
	static struct keeper keeper;
	struct err err = ERR_INIT;

	CHECK(prepare(&keeper));
	CHECK_EQ_INT(config_parse(&keeper.config,
			     "runtime python { limits { pids = 9 } most { open_files = 99 } }\n"
			     "for_policy standard { limits { inodes = 77 } }\n"
			     "for_policy strict { limits { pids = 8 } }\n",
			     &err),
		0);
	CHECK(configure(&keeper));
	CHECK_EQ_INT(keeper.pool.runtimes[0].limits.pids, 9);
	CHECK_EQ_INT(keeper.pool.runtimes[0].limits.inodes, 77);
	CHECK_EQ_INT(keeper.pool.runtimes[0].limits.open_files, 99);
	finish(&keeper);
}

/* ---- configuring -------------------------------------------------------------------------- */

TEST(a_runtime_is_configured_with_what_its_interpreter_needs)
{
	struct priv_host host = { 0 };
	static struct priv_msg question;
	static struct keeper keeper;
	int none[PRIV_FDS_MAX];
	struct err err = ERR_INIT;

	CHECK(prepare(&keeper) && answer_ahead(&keeper, 0));
	CHECK_EQ_INT(
		pool_configure(&keeper.pool, &keeper.config, &host, keeper.link, "/libexec", &err),
		0);
	CHECK(playing_hear(&keeper.play, &question, none));
	CHECK_STR(question.body.runtime.name, "python");
	CHECK_STR(question.body.runtime.harness, "/libexec/python");
	CHECK_STR(question.body.runtime.interpreter, keeper.config.runtimes[0].interpreter);
	CHECK(question.body.runtime.bind_count > 0);
	CHECK_EQ_INT(python(&keeper)->number, RUNTIME);
	CHECK(pool_find(&keeper.pool, "cobol") == NULL);
	CHECK(playing_hear(&keeper.play, &question, none));
	CHECK_STR(question.body.runtime.name, "python.steady");
	CHECK(strstr(question.body.runtime.preload, "+steady ") == question.body.runtime.preload);
	CHECK_EQ_INT(python(&keeper)->steady->number, RUNTIME + 1);
	CHECK_EQ_INT(keeper.pool.runtime_count, 1);
	finish(&keeper);
}

TEST(a_command_is_told_what_its_jobs_may_start)
{
	static struct priv_msg question;
	static struct keeper keeper;
	struct priv_host host = { 0 };
	struct config_runtime *runtime = &keeper.config.runtimes[0];
	const char *forms[CONFIG_FORMS_MAX + 1];
	int none[PRIV_FDS_MAX];
	struct err err = ERR_INIT;

	CHECK(prepare(&keeper) && answer_ahead(&keeper, 0));
	runtime->kind = KIND_COMMAND;
	runtime->bind_count = 1;
	runtime->form_count = 1;
	cut_printf(runtime->args, sizeof(runtime->args), "-w");
	cut_printf(runtime->tools, sizeof(runtime->tools), "coreutils");
	cut_printf(runtime->binds[0], sizeof(runtime->binds[0]), "/usr/share/perl");
	cut_printf(runtime->forms[0], sizeof(runtime->forms[0]), "%s", "line %l");
	CHECK_EQ_INT(
		pool_configure(&keeper.pool, &keeper.config, &host, keeper.link, "/libexec", &err),
		0);
	CHECK(playing_hear(&keeper.play, &question, none));
	CHECK_EQ_INT(question.body.runtime.kind, PRIV_RUNTIME_COMMAND);
	CHECK_STR(question.body.runtime.harness, "/libexec/command");
	CHECK_STR(question.body.runtime.preload, "args: -w tools: coreutils keep: /usr/share/perl");
	CHECK_EQ_INT(question.body.runtime.makes_code, 0);
	CHECK(!runtime_reads_stdin_inline(python(&keeper)));
	CHECK(runtime_forms(python(&keeper), forms));
	CHECK_STR(forms[0], "line %l");
	CHECK(forms[1] == NULL);
	CHECK_STR(runtime_language(python(&keeper)), "python");
	cut_printf(runtime->language, sizeof(runtime->language), "bash");
	CHECK_STR(runtime_language(python(&keeper)), "bash");
	finish(&keeper);
}

TEST(node_is_started_ahead_and_may_make_code)
{
	static struct priv_msg question;
	static struct keeper keeper;
	struct priv_host host = { 0 };
	const char *forms[CONFIG_FORMS_MAX + 1];
	int none[PRIV_FDS_MAX];
	struct err err = ERR_INIT;

	CHECK(prepare(&keeper) && answer_ahead(&keeper, 0));
	keeper.config.runtimes[0].kind = KIND_NODE;
	CHECK_EQ_INT(
		pool_configure(&keeper.pool, &keeper.config, &host, keeper.link, "/libexec", &err),
		0);
	CHECK(playing_hear(&keeper.play, &question, none));
	CHECK_EQ_INT(question.body.runtime.kind, PRIV_RUNTIME_COMMAND);
	CHECK_EQ_INT(question.body.runtime.makes_code, 1);
	CHECK(strstr(question.body.runtime.preload, " ahead: worker.js"));
	CHECK(runtime_reads_stdin_inline(python(&keeper)));
	CHECK(!runtime_forms(python(&keeper), forms));
	CHECK(python(&keeper)->steady == python(&keeper));
	finish(&keeper);
}

TEST(a_runtime_that_the_spawner_refuses_is_named)
{
	struct priv_host host = { 0 };
	static struct keeper keeper;
	struct err err = ERR_INIT;

	CHECK(prepare(&keeper) && answer_ahead(&keeper, ERR_DENIED));
	CHECK_EQ_INT(
		pool_configure(&keeper.pool, &keeper.config, &host, keeper.link, "/libexec", &err),
		-1);
	CHECK_STR(err.text, "runtime python: no: correct its section, or write off = true in it");
	finish(&keeper);
}

/* ---- warm workers ------------------------------------------------------------------------- */

TEST(as_many_workers_as_are_wanted_get_warm_and_their_owner_is_told)
{
	static struct keeper keeper;
	struct played worker[2];
	int control, slot[2];

	CHECK(prepare(&keeper));
	keeper.config.workers_min = 2;
	CHECK(configure(&keeper) && start(&keeper));
	control = playing_zygote(&keeper.play);
	CHECK(control >= 0);
	for (int i = 0; i < 2; i++) {
		slot[i] = playing_slot(&keeper.play, control, NULL, NULL);
		CHECK(slot[i] >= 0 && warm_up(&keeper, slot[i], &worker[i]));
		CHECK_EQ_INT(worker[i].index, i);
	}
	CHECK_EQ_INT(keeper.warm, 2);
	CHECK_EQ_INT(told(&keeper, "warm"), 2);
	CHECK_STR(python(&keeper)->version, "3.11.2");
	CHECK(pool_take(python(&keeper))->index == 0); /* it has waited longest */
	for (int i = 0; i < 2; i++) {
		played_close(&worker[i]);
		close(slot[i]);
	}
	close(control);
	finish(&keeper);
}

TEST(what_a_run_left_in_its_cgroup_goes_before_the_next_worker_is_made)
{
	static struct keeper keeper;
	static const struct priv_knobs knobs = { 2, { KNOB_MEMORY_NOW, KNOB_MEMORY_EMPTY } };
	struct played worker;
	char asked[32] = "";
	int control, slot, now, emptier;

	CHECK(begin(&keeper));
	control = playing_zygote(&keeper.play);
	CHECK(control >= 0);
	slot = playing_slot(&keeper.play, control, &knobs,
		(const int[]){ knob_of("100000000\n", &now), knob_of("", &emptier) });
	CHECK(slot >= 0 && warm_up(&keeper, slot, &worker));
	CHECK(pread(emptier, asked, sizeof(asked) - 1, 0) > 0);
	CHECK_STR(asked, "100000000");
	played_close(&worker);
	close(slot);
	close(now);
	close(emptier);
	close(control);
	finish(&keeper);
}

TEST(a_slot_that_is_lost_while_its_cgroup_is_emptied_is_forgotten)
{
	static struct keeper keeper;
	static const struct priv_knobs knobs = { 2, { KNOB_MEMORY_NOW, KNOB_MEMORY_EMPTY } };
	int control, slot, now, emptier;

	CHECK(begin(&keeper));
	control = playing_zygote(&keeper.play);
	slot = playing_slot(&keeper.play, control, &knobs,
		(const int[]){ knob_of("100000000\n", &now), knob_of("", &emptier) });
	CHECK(control >= 0 && slot >= 0);
	close(slot);
	close(now);
	close(emptier);
	close(control); /* the zygote is gone too; the next upkeep frees its slots */
	playing_turn(&keeper.play, UPKEEP_MS);
	finish(&keeper);
}

TEST(the_reserve_is_opened_for_newcomers_and_one_of_it_for_everybody)
{
	static struct keeper keeper;
	int control, slot;

	CHECK(prepare(&keeper));
	keeper.config.workers_reserve = 3;
	CHECK(configure(&keeper) && start(&keeper));
	CHECK_EQ_INT(python(&keeper)->shares.most, 2);
	CHECK_EQ_INT(python(&keeper)->shares.reserve, 3);
	control = playing_zygote(&keeper.play);
	slot = playing_slot(&keeper.play, control, NULL, NULL);
	CHECK(slot >= 0);
	for (int i = 0; i < 9; i++)
		pool_grow(python(&keeper), false);
	CHECK_EQ_INT(told(&keeper, "wanted"), 3);
	for (int i = 0; i < 9; i++)
		pool_grow(python(&keeper), true);
	CHECK_EQ_INT(told(&keeper, "wanted"), 5);
	close(slot);
	close(control);
	finish(&keeper);
}

TEST(a_run_that_finds_no_warm_worker_has_another_slot_opened_up_to_the_ceiling)
{
	static struct keeper keeper;
	int control, slot[2];

	CHECK(begin(&keeper));
	control = playing_zygote(&keeper.play);
	slot[0] = playing_slot(&keeper.play, control, NULL, NULL);
	CHECK(slot[0] >= 0);
	pool_grow(python(&keeper), false);
	slot[1] = playing_slot(&keeper.play, control, NULL, NULL);
	CHECK(slot[1] >= 0);
	pool_grow(python(&keeper), false);
	CHECK_EQ_INT(told(&keeper, "wanted"), 2);
	close(slot[0]);
	close(slot[1]);
	close(control);
	finish(&keeper);
}

/* Empties the worker's slot and makes its next worker. */
static void comes_back(struct keeper *keeper, int slot, const struct played *worker)
{
	struct slotmsg msg;
	struct played next;
	int none[1 + SLOTMSG_JOIN_FDS_MAX];

	CHECK(playing_lease(&keeper->play, slot, &msg, none));
	CHECK_EQ_INT(msg.kind, SLOTMSG_WORKER_DROP);
	CHECK(played_says(worker, SLOTMSG_DROPPED));
	CHECK(playing_make(&keeper->play, slot, &next));
	CHECK_EQ_INT(next.sequence, worker->sequence + 1);
	played_close(&next);
}

TEST(a_worker_that_was_used_is_followed_by_another_in_the_same_slot)
{
	static struct keeper keeper;
	struct played worker;
	int control, slot;

	CHECK(begin(&keeper));
	control = playing_zygote(&keeper.play);
	slot = playing_slot(&keeper.play, control, NULL, NULL);
	CHECK(slot >= 0 && warm_up(&keeper, slot, &worker));
	worker_release(pool_take(python(&keeper)));
	comes_back(&keeper, slot, &worker);
	played_close(&worker);
	close(slot);
	close(control);
	finish(&keeper);
}

/* ---- zygotes that fail ---------------------------------------------------------------------- */

TEST(a_zygote_that_is_refused_is_asked_for_again_and_its_socket_is_closed)
{
	static struct priv_msg question;
	static struct keeper keeper;
	int sock = -1;

	CHECK(begin(&keeper));
	for (int i = 0; i < 2; i++) {
		CHECK(playing_hear(&keeper.play, &question, &sock));
		CHECK_EQ_INT(question.op, PRIV_ZYGOTE);
		CHECK_EQ_INT(question.body.zygote.runtime, RUNTIME);
		CHECK(playing_refuse(&keeper.play, &question, "no room for another"));
		CHECK(playing_is_closed(&keeper.play, sock));
		close(sock);
		CHECK_STR(python(&keeper)->trouble, "no room for another");
	}
	CHECK_EQ_INT(keeper.play.kills, 0); /* there was no process to kill */
	finish(&keeper);
}

TEST(a_zygote_that_was_refused_is_buried)
{
	static struct priv_msg question;
	static struct keeper keeper;
	int sock = -1;

	CHECK(begin(&keeper));
	CHECK(playing_hear(&keeper.play, &question, &sock));
	close(sock);
	CHECK(playing_refuse(&keeper.play, &question, "no"));
	playing_turn(&keeper.play, 0);
	timer_close(python(&keeper)->retry); /* so that no new zygote joins the list */
	python(&keeper)->retry = NULL;
	playing_turn(&keeper.play, UPKEEP_MS);
	CHECK(list_is_empty(&python(&keeper)->zygotes));
	finish(&keeper);
}

TEST(a_zygote_that_dies_before_it_is_ready_is_tried_again_after_a_pause)
{
	static struct keeper keeper;
	int control;
	int64_t began_ms;

	CHECK(begin(&keeper));
	control = playing_silent_zygote(&keeper.play);
	CHECK(control >= 0);
	began_ms = clock_ms();
	close(control);
	control = playing_zygote(&keeper.play);
	CHECK(control >= 0);
	CHECK(clock_ms() - began_ms >= 150);
	CHECK_EQ_INT(keeper.play.kills, 1);
	CHECK_EQ_INT(keeper.play.killed, 1);
	CHECK(python(&keeper)->trouble[0]);
	playing_turn(&keeper.play, 0);
	CHECK_STR(python(&keeper)->trouble, ""); /* the second zygote became ready */
	close(control);
	finish(&keeper);
}

TEST(a_zygote_whose_process_ended_takes_its_workers_along_and_is_followed_at_once)
{
	static struct keeper keeper;
	struct played worker;
	int control, slot, next;

	CHECK(begin(&keeper));
	control = playing_zygote(&keeper.play);
	slot = playing_slot(&keeper.play, control, NULL, NULL);
	CHECK(slot >= 0 && warm_up(&keeper, slot, &worker));
	CHECK(playing_exited(&keeper.play, 1, SIGKILL));
	CHECK(playing_is_closed(&keeper.play, slot));
	CHECK(playing_is_closed(&keeper.play, worker.lifeline));
	CHECK(pool_take(python(&keeper)) == NULL);
	next = playing_zygote(&keeper.play);
	CHECK(next >= 0);
	CHECK(!pool_child_exited(&keeper.pool, 99, 0));
	played_close(&worker);
	close(slot);
	close(control);
	close(next);
	finish(&keeper);
}

TEST(a_zygote_that_sends_what_is_no_message_is_killed)
{
	static struct priv_msg question;
	static struct keeper keeper;
	int none[PRIV_FDS_MAX];
	int control, next;

	CHECK(begin(&keeper));
	control = playing_zygote(&keeper.play);
	CHECK(playing_hear(&keeper.play, &question, none) && question.op == PRIV_SLOT);
	CHECK(playing_refuse(&keeper.play, &question, "later"));
	CHECK_EQ_INT(send(control, "garbage", 7, 0), 7);
	CHECK(playing_is_closed(&keeper.play, control));
	next = playing_zygote(&keeper.play);
	CHECK(next >= 0);
	CHECK_EQ_INT(keeper.play.kills, 1);
	CHECK_EQ_INT(keeper.play.killed, 1);
	close(control);
	close(next);
	finish(&keeper);
}

TEST(words_of_a_zygote_that_make_no_sense_change_nothing)
{
	static const enum slotmsg_kind odd[] = { SLOTMSG_ZYGOTE_READY, SLOTMSG_SLOT_OPENED,
		SLOTMSG_SLOT_FAILED, SLOTMSG_SLOT_GONE, SLOTMSG_WORKER_MADE, SLOTMSG_DROPPED };
	static struct keeper keeper;
	struct played worker;
	int control, slot;

	CHECK(begin(&keeper));
	control = playing_zygote(&keeper.play);
	slot = playing_slot(&keeper.play, control, NULL, NULL);
	CHECK(slot >= 0 && warm_up(&keeper, slot, &worker));
	for (unsigned i = 0; i < COUNT_OF(odd); i++)
		CHECK(playing_say(control, odd[i], 63, 0));     /* no such slot */
	CHECK(playing_say(control, SLOTMSG_SLOT_OPENED, 0, 0)); /* for the second time */
	CHECK(playing_say(control, SLOTMSG_ZYGOTE_READY, 0, 0));
	playing_turn(&keeper.play, 0);
	CHECK_EQ_INT(told(&keeper, "warm"), 1);
	CHECK_EQ_INT(keeper.warm, 1);
	played_close(&worker);
	close(slot);
	close(control);
	finish(&keeper);
}

/* ---- slots that fail ------------------------------------------------------------------------ */

TEST(a_slot_without_a_cgroup_is_asked_for_again_by_the_same_number)
{
	static struct priv_msg question;
	static struct keeper keeper;
	struct played worker;
	int none[PRIV_FDS_MAX];
	int control, slot;

	CHECK(begin(&keeper));
	control = playing_zygote(&keeper.play);
	CHECK(playing_hear(&keeper.play, &question, none));
	CHECK_EQ_INT(question.op, PRIV_SLOT);
	CHECK(playing_refuse(&keeper.play, &question, "no cgroup"));
	slot = playing_slot(&keeper.play, control, NULL, NULL);
	CHECK(slot >= 0 && warm_up(&keeper, slot, &worker));
	CHECK_EQ_INT(worker.index, 0);
	played_close(&worker);
	close(slot);
	close(control);
	finish(&keeper);
}

TEST(a_slot_whose_cgroup_lacks_what_is_required_is_not_opened)
{
	static struct priv_msg question, answer;
	static struct keeper keeper;
	int none[PRIV_FDS_MAX];
	int control, slot;
	int ends[2];

	CHECK(begin(&keeper));
	keeper.config.layers.cgroups = true;
	control = playing_zygote(&keeper.play);
	CHECK(playing_hear(&keeper.play, &question, none));
	CHECK_EQ_INT(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	answer = (struct priv_msg){ 0 };
	answer.body.knobs = (struct priv_knobs){ 2, { KNOB_PIDS_MAX, KNOB_MEMORY_MAX } };
	CHECK(playing_answer(
		&keeper.play, &question, &answer, (const int[]){ ends[1], dup(ends[1]) }, 2));
	CHECK(playing_is_closed(&keeper.play, ends[0])); /* no knob can count cpu time */
	keeper.config.layers.cgroups = false;
	slot = playing_slot(&keeper.play, control, NULL, NULL);
	CHECK(slot >= 0);
	close(slot);
	close(control);
	finish(&keeper);
}

TEST(knobs_that_come_twice_open_no_slot_and_are_closed)
{
	static struct priv_msg question, answer;
	static struct keeper keeper;
	int none[PRIV_FDS_MAX];
	int control, slot;
	int ends[2];

	CHECK(begin(&keeper));
	control = playing_zygote(&keeper.play);
	CHECK(playing_hear(&keeper.play, &question, none));
	CHECK_EQ_INT(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	answer = (struct priv_msg){ 0 };
	answer.body.knobs = (struct priv_knobs){ 2, { KNOB_PIDS_MAX, KNOB_PIDS_MAX } };
	CHECK(playing_answer(
		&keeper.play, &question, &answer, (const int[]){ ends[1], dup(ends[1]) }, 2));
	CHECK(playing_is_closed(&keeper.play, ends[0]));
	slot = playing_slot(&keeper.play, control, NULL, NULL);
	CHECK(slot >= 0);
	close(slot);
	close(ends[0]);
	close(control);
	finish(&keeper);
}

TEST(a_slot_joins_the_cgroups_that_the_spawner_gave_for_it)
{
	struct priv_knobs knobs = { 3, { KNOB_JOIN, KNOB_PIDS_MAX, KNOB_JOIN } };
	static struct keeper keeper;
	struct played worker;
	int fds[3];
	int control, slot;

	CHECK(begin(&keeper));
	for (int i = 0; i < 3; i++)
		fds[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
	control = playing_zygote(&keeper.play);
	slot = playing_slot(&keeper.play, control, &knobs, fds);
	CHECK(slot >= 0 && playing_make(&keeper.play, slot, &worker));
	CHECK_EQ_INT(worker.flags, SLOTMSG_FLAG_RLIMIT_MEMORY);
	played_close(&worker);
	close(slot);
	close(control);
	finish(&keeper);
}

TEST(a_slot_that_failed_or_ended_is_followed_by_another_with_a_new_number)
{
	static const enum slotmsg_kind ends[] = { SLOTMSG_SLOT_FAILED, SLOTMSG_SLOT_GONE };

	for (unsigned i = 0; i < COUNT_OF(ends); i++) {
		static struct keeper keeper;
		struct played worker;
		int control, slot, next;

		CHECK(begin(&keeper));
		control = playing_zygote(&keeper.play);
		slot = playing_slot(&keeper.play, control, NULL, NULL);
		CHECK(slot >= 0 && warm_up(&keeper, slot, &worker));
		CHECK(playing_say(control, ends[i], 0, 0));
		CHECK(playing_is_closed(&keeper.play, worker.lifeline));
		played_close(&worker);
		next = playing_slot(&keeper.play, control, NULL, NULL);
		CHECK(next >= 0 && warm_up(&keeper, next, &worker));
		CHECK_EQ_INT(worker.index, 1);
		played_close(&worker);
		close(slot);
		close(next);
		close(control);
		finish(&keeper);
	}
}

TEST(a_slot_in_which_no_worker_can_be_made_is_given_up_and_another_is_opened)
{
	static struct keeper keeper;
	struct slotmsg msg;
	struct played worker;
	int none[1 + SLOTMSG_JOIN_FDS_MAX];
	int control, slot, next;

	CHECK(begin(&keeper));
	control = playing_zygote(&keeper.play);
	slot = playing_slot(&keeper.play, control, NULL, NULL);
	for (int i = 0; i < 3; i++) {
		CHECK(playing_make(&keeper.play, slot, &worker));
		CHECK(played_says(&worker, SLOTMSG_WORKER_FAILED));
		CHECK(playing_lease(&keeper.play, slot, &msg, none));
		CHECK_EQ_INT(msg.kind, SLOTMSG_WORKER_DROP);
		CHECK(played_says(&worker, SLOTMSG_DROPPED));
		played_close(&worker);
	}
	CHECK(playing_is_closed(&keeper.play, slot));
	next = playing_slot(&keeper.play, control, NULL, NULL);
	CHECK(next >= 0 && playing_make(&keeper.play, next, &worker));
	CHECK_EQ_INT(worker.index, 1);
	played_close(&worker);
	close(next);
	close(slot);
	close(control);
	finish(&keeper);
}

TEST(a_slot_that_never_drops_its_worker_is_given_up)
{
	static struct keeper keeper;
	struct played worker;
	struct worker *stuck;
	int control, slot, next;

	CHECK(begin(&keeper));
	control = playing_zygote(&keeper.play);
	slot = playing_slot(&keeper.play, control, NULL, NULL);
	CHECK(slot >= 0 && warm_up(&keeper, slot, &worker));
	stuck = pool_take(python(&keeper));
	worker_release(stuck);
	stuck->moved_us -= (int64_t)(WORKER_SILENCE_MS + 1) * 1000; /* as if so long had passed */
	CHECK(playing_is_closed(&keeper.play, slot));
	next = playing_slot(&keeper.play, control, NULL, NULL);
	CHECK(next >= 0);
	played_close(&worker);
	close(next);
	close(slot);
	close(control);
	finish(&keeper);
}

/* ---- replacing ------------------------------------------------------------------------------ */

TEST(a_worn_zygote_is_replaced_when_the_new_one_is_ready_and_killed_when_it_is_idle)
{
	static struct keeper keeper;
	struct played worker, other;
	int control, slot, next, next_slot;

	CHECK(prepare(&keeper));
	keeper.config.zygote_runs = 1;
	CHECK(configure(&keeper) && start(&keeper));
	control = playing_zygote(&keeper.play);
	slot = playing_slot(&keeper.play, control, NULL, NULL);
	CHECK(slot >= 0 && warm_up(&keeper, slot, &worker));
	CHECK(pool_take(python(&keeper)) != NULL); /* worn after one run; still warm here */
	next = playing_zygote(&keeper.play);
	CHECK(next >= 0);
	CHECK_EQ_INT(keeper.play.kills, 0);
	next_slot = playing_slot(&keeper.play, next, NULL, NULL);
	CHECK(next_slot >= 0 && warm_up(&keeper, next_slot, &other));
	playing_turn(&keeper.play, UPKEEP_MS);
	CHECK(played_says(&worker, SLOTMSG_DROPPED));
	CHECK(playing_is_closed(&keeper.play, control));
	CHECK_EQ_INT(told(&keeper, "warm"), 1);
	played_close(&worker);
	played_close(&other);
	close(slot);
	close(next_slot);
	close(control);
	close(next);
	finish(&keeper);
}

/* ---- ends and faults ------------------------------------------------------------------------ */

TEST(a_spawner_that_goes_while_it_is_asked_is_told_and_nothing_hangs)
{
	static struct keeper keeper;

	CHECK(begin(&keeper));
	close(keeper.play.spawner);
	keeper.play.spawner = -1;
	CHECK(playing_until(&keeper.play, &keeper.spawner_lost));
	keeper.play.spawner = open("/dev/null", O_RDONLY | O_CLOEXEC);
	finish(&keeper);
}

TEST(a_spawner_that_answers_something_else_is_left)
{
	static struct priv_msg question, answer;
	static struct keeper keeper;
	int sock = -1;

	CHECK(begin(&keeper));
	CHECK(playing_hear(&keeper.play, &question, &sock));
	answer = (struct priv_msg){ .id = 1 };
	question.op = PRIV_KILL; /* the right number, another operation */
	CHECK(playing_answer(&keeper.play, &question, &answer, NULL, 0));
	CHECK(playing_until(&keeper.play, &keeper.spawner_lost));
	close(sock);
	finish(&keeper);
}

TEST(whatever_allocation_fails_a_worker_gets_warm_in_the_end_or_the_pool_can_be_closed)
{
	FAULT_LOOP(FAULT_ALLOC) {
		static struct keeper keeper;
		struct played worker = { 0, 0, 0, { 0 }, 0, -1, -1, -1, -1 };
		int control = -1;
		int slot = -1;
		bool begun = begin(&keeper);

		CHECK(begun || fault_hit());
		if (begun) {
			control = playing_zygote(&keeper.play);
			slot = playing_slot(&keeper.play, control, NULL, NULL);
		}
		if (slot >= 0)
			CHECK(warm_up(&keeper, slot, &worker) || fault_hit());
		CHECK(keeper.warm == 1 || fault_hit());
		fault_disarm();
		played_close(&worker);
		close_fds(&slot, 1);
		close_fds(&control, 1);
		finish(&keeper);
	}
}
