#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "daemon/record/recorder.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "tests/check.h"
#include "tests/fault.h"
#include "tests/unit/store_sample.h"

#define RECORDS 300 /* more than go into one batch */

/* A recorder on its own store, and what it reported. */
struct desk {
	struct shop shop;
	uv_loop_t loop;
	struct recorder *recorder;
	struct recording recordings[RECORDS];
	struct sample samples[RECORDS];
};

static struct desk desk;
static unsigned told, failed;
static const struct recording *last;
static bool in_order;

static void on_done(struct recording *recording, const struct err *err)
{
	in_order = in_order && recording > last;
	last = recording;
	told++;
	failed += err != NULL;
}

static bool open_desk_of(unsigned most)
{
	struct store *store;

	told = failed = 0;
	last = NULL;
	in_order = true;
	memset(&desk, 0, sizeof(desk));
	shop_init(&desk.shop);
	store = desk.shop.store;
	desk.shop.store = NULL; /* now the recorder owns it */
	(void)uv_loop_init(&desk.loop);
	desk.recorder = store ? recorder_start(&desk.loop, store, most, &desk.shop.err) : NULL;
	return desk.recorder != NULL;
}

static bool open_desk(void)
{
	return open_desk_of(RECORDER_MOST);
}

static void close_desk(void)
{
	recorder_close(desk.recorder);
	(void)uv_run(&desk.loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&desk.loop);
	for (unsigned i = 0; i < RECORDS; i++)
		if (desk.samples[i].run_id[0])
			sample_done(&desk.samples[i]);
	shop_done(&desk.shop);
}

static void put(unsigned number, enum recording_kind kind)
{
	struct recording *recording = &desk.recordings[number];
	struct sample *sample = &desk.samples[number];

	if (!sample->run_id[0])
		sample_init(sample);
	recording->kind = kind;
	recording->durability = STORE_NOW;
	recording->run = kind == RECORDING_BEGUN ? sample_begun(sample) : sample_ended(sample);
	recording->done = on_done;
	recorder_put(desk.recorder, recording);
}

static bool wait_for(unsigned count)
{
	int64_t until = clock_ms() + 10000;

	while (told < count && clock_ms() < until) {
		(void)uv_run(&desk.loop, UV_RUN_NOWAIT);
		(void)usleep(500);
	}
	return told == count;
}

TEST(a_commit_takes_as_many_records_as_it_may)
{
	uint64_t commits = 0, records = 0;

	CHECK(open_desk_of(1));
	for (unsigned i = 0; i < 20; i++)
		put(i, RECORDING_ENDED);
	CHECK(wait_for(20));
	recorder_counts(desk.recorder, &commits, &records);
	CHECK_EQ_INT(records, 20);
	CHECK_EQ_INT(commits, 20);
	close_desk();
}

/* Puts the two records of one run, a millisecond apart, and returns how many commits they took. */
static uint64_t commits_of_a_short_run(unsigned number)
{
	struct recording *begun = &desk.recordings[2 * number];
	struct recording *ended = &desk.recordings[2 * number + 1];
	struct sample *sample = &desk.samples[number];
	uint64_t before = 0, after = 0, records = 0;

	recorder_counts(desk.recorder, &before, &records);
	sample_init(sample);
	*begun = (struct recording){ .kind = RECORDING_BEGUN,
		.durability = STORE_SOON,
		.run = sample_begun(sample),
		.done = on_done };
	*ended = (struct recording){ .kind = RECORDING_ENDED,
		.durability = STORE_NOW,
		.run = sample_ended(sample),
		.done = on_done };
	recorder_put(desk.recorder, begun);
	(void)usleep(1000);
	recorder_put(desk.recorder, ended);
	if (!wait_for(2 * (number + 1)))
		return 0;
	recorder_counts(desk.recorder, &after, &records);
	return after - before;
}

/* A busy machine may take longer than the recorder waits, but not always. */
TEST(the_end_of_a_short_run_comes_into_the_commit_of_its_beginning)
{
	bool shared = false;

	CHECK(open_desk());
	for (unsigned i = 0; i < RECORDS / 2 && !shared; i++)
		shared = commits_of_a_short_run(i) == 1;
	CHECK(shared);
	CHECK_EQ_INT(failed, 0);
	CHECK(in_order);
	close_desk();
}

TEST(a_beginning_is_committed_although_no_end_comes)
{
	CHECK(open_desk());
	sample_init(&desk.samples[0]);
	desk.recordings[0] = (struct recording){ .kind = RECORDING_BEGUN,
		.durability = STORE_SOON,
		.run = sample_begun(&desk.samples[0]),
		.done = on_done };
	recorder_put(desk.recorder, &desk.recordings[0]);
	CHECK(wait_for(1));
	CHECK_EQ_INT(failed, 0);
	close_desk();
}

TEST(what_is_put_is_told_when_it_is_in_the_store)
{
	uint64_t commits = 0, records = 0;
	struct store *store;
	struct value *record = NULL;
	uint32_t uid = 0;

	CHECK(open_desk());
	put(0, RECORDING_ENDED);
	CHECK_EQ_INT(told, 0); /* the report comes from the loop, never from inside the call */
	CHECK(wait_for(1));
	CHECK_EQ_INT(failed, 0);
	CHECK(recorder_trouble(desk.recorder) == NULL);
	recorder_counts(desk.recorder, &commits, &records);
	CHECK_EQ_INT(records, 1);
	store = store_open(desk.shop.folder, STORE_READ, &desk.shop.err);
	CHECK(store != NULL);
	CHECK_EQ_INT(store_get(store, desk.samples[0].run_id, 100, &desk.shop.arena, &record, &uid,
			     &desk.shop.err),
		0);
	store_close(store);
	close_desk();
}

TEST(many_that_wait_share_commits_and_keep_their_order)
{
	uint64_t commits = 0, records = 0;

	CHECK(open_desk());
	for (unsigned i = 0; i < RECORDS; i++)
		put(i, RECORDING_ENDED);
	CHECK(wait_for(RECORDS));
	CHECK(in_order);
	CHECK_EQ_INT(failed, 0);
	recorder_counts(desk.recorder, &commits, &records);
	CHECK_EQ_INT(records, RECORDS);
	CHECK(commits < RECORDS / 2);
	close_desk();
}

TEST(what_waits_when_it_is_closed_is_written_and_told)
{
	CHECK(open_desk());
	for (unsigned i = 0; i < 20; i++)
		put(i, RECORDING_ENDED);
	close_desk();
	CHECK_EQ_INT(told, 20);
	CHECK_EQ_INT(failed, 0);
	recorder_close(NULL);
}

TEST(a_record_that_cannot_be_written_does_not_take_others_along)
{
	CHECK(open_desk());
	for (unsigned i = 0; i < 20; i++)
		if (i != 10)
			sample_init(&desk.samples[i]);
	sample_init(&desk.samples[10]);
	memcpy(desk.samples[10].run_id, "no such thing as this id", 25);
	for (unsigned i = 0; i < 20; i++)
		put(i, RECORDING_ENDED);
	CHECK(wait_for(20));
	CHECK_EQ_INT(failed, 1);
	CHECK(desk.recordings[10].failed);
	CHECK(in_order);
	close_desk();
}

/* Simulates a full disk: no byte of a file can be written. */
static void disk_is_full(bool full)
{
	struct rlimit limit;

	(void)signal(SIGXFSZ, SIG_IGN);
	CHECK_EQ_INT(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = full ? 0 : limit.rlim_max;
	CHECK_EQ_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

TEST(a_full_disk_is_told_to_everybody_and_forgotten_when_there_is_room_again)
{
	CHECK(open_desk());
	put(0, RECORDING_ENDED);
	CHECK(wait_for(1));
	disk_is_full(true);
	for (unsigned i = 1; i < 4; i++)
		put(i, RECORDING_ENDED);
	CHECK(wait_for(4));
	disk_is_full(false);
	CHECK_EQ_INT(failed, 3);
	CHECK(recorder_trouble(desk.recorder) != NULL);
	CHECK(desk.recordings[1].err.text[0]);
	put(4, RECORDING_ENDED);
	CHECK(wait_for(5));
	CHECK_EQ_INT(failed, 3);
	CHECK(recorder_trouble(desk.recorder) == NULL);
	close_desk();
}

static bool wait_for_trouble(bool there, int64_t most_ms)
{
	int64_t until = clock_ms() + most_ms;

	while ((recorder_trouble(desk.recorder) != NULL) != there && clock_ms() < until) {
		(void)uv_run(&desk.loop, UV_RUN_NOWAIT);
		(void)usleep(1000);
	}
	return (recorder_trouble(desk.recorder) != NULL) == there;
}

TEST(trouble_lasts_as_long_as_its_cause_and_ends_by_itself)
{
	CHECK(open_desk());
	disk_is_full(true);
	put(0, RECORDING_BEGUN);
	CHECK(wait_for(1));
	CHECK_EQ_INT(failed, 1);
	CHECK_STR(store_trouble(recorder_trouble(desk.recorder)), "full");
	CHECK(!wait_for_trouble(false, 2500)); /* the recorder has tried twice meanwhile */
	CHECK(recorder_trouble_ms(desk.recorder) >= 2500);
	disk_is_full(false);
	CHECK(wait_for_trouble(false, 3000));
	put(1, RECORDING_ENDED);
	CHECK(wait_for(2));
	CHECK_EQ_INT(failed, 1);
	close_desk();
}

/* Another process holds the database for this long. */
static pid_t hold_database(unsigned ms)
{
	char path[128];
	char ready = 0;
	int ends[2] = { -1, -1 };
	pid_t pid;

	(void)snprintf(path, sizeof(path), "%s/ced.db", desk.shop.folder);
	if (pipe(ends) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		sqlite3 *db = NULL;

		if (sqlite3_open(path, &db) != SQLITE_OK ||
			sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
			_exit(1);
		if (write(ends[1], "r", 1) == 1)
			(void)usleep(ms * 1000);
		_exit(0);
	}
	if (pid < 0 || read(ends[0], &ready, 1) != 1)
		pid = -1;
	(void)close(ends[0]);
	(void)close(ends[1]);
	return pid;
}

TEST(who_holds_the_database_for_a_moment_is_waited_for)
{
	pid_t pid;

	CHECK(open_desk());
	pid = hold_database(700);
	CHECK(pid > 0);
	for (unsigned i = 0; i < 3; i++)
		put(i, RECORDING_ENDED);
	CHECK(wait_for(3));
	CHECK_EQ_INT(failed, 0);
	CHECK(recorder_trouble(desk.recorder) == NULL);
	(void)waitpid(pid, NULL, 0);
	close_desk();
}

TEST(who_holds_the_database_for_long_is_told_of_and_waited_out)
{
	int64_t begun_ms;
	pid_t pid;

	CHECK(open_desk());
	pid = hold_database(4000);
	CHECK(pid > 0);
	begun_ms = clock_ms();
	for (unsigned i = 0; i < RECORDS; i++)
		put(i, RECORDING_ENDED);
	CHECK(wait_for(RECORDS));
	CHECK(failed > 0); /* the records of a batch fail together, not one after the other */
	CHECK(clock_ms() - begun_ms < 30000);
	(void)waitpid(pid, NULL, 0);
	CHECK(wait_for_trouble(false, 3000));
	close_desk();
}

TEST(a_record_that_is_at_fault_itself_is_no_trouble_of_the_store)
{
	CHECK(open_desk());
	sample_init(&desk.samples[0]);
	memcpy(desk.samples[0].run_id, "no such thing as this id", 25);
	put(0, RECORDING_ENDED);
	CHECK(wait_for(1));
	CHECK_EQ_INT(failed, 1);
	CHECK(recorder_trouble(desk.recorder) == NULL);
	close_desk();
}

TEST(without_memory_the_store_is_closed_and_can_be_opened_again)
{
	struct err err = ERR_INIT;

	memset(&desk, 0, sizeof(desk));
	shop_init(&desk.shop);
	CHECK(desk.shop.store != NULL);
	(void)uv_loop_init(&desk.loop);
	fault_arm(FAULT_ALLOC, 1);
	CHECK(recorder_start(&desk.loop, desk.shop.store, RECORDER_MOST, &err) == NULL);
	fault_disarm();
	CHECK_EQ_INT(err.code, ERR_MEMORY);
	desk.shop.store = store_open(desk.shop.folder, STORE_WRITE, &err);
	CHECK(desk.shop.store != NULL);
	(void)uv_loop_close(&desk.loop);
	shop_done(&desk.shop);
}

/* ---- a disk that does not respond ----------------------------------------------------------- */

static atomic_bool disk_answers;

static int write_slowly(struct recording *recording, struct store *store, struct err *err)
{
	(void)recording;
	(void)store;
	(void)err;
	while (!atomic_load(&disk_answers))
		(void)usleep(10000);
	return 0;
}

static bool stalls(bool hoped)
{
	int64_t until = clock_ms() + 20000;

	while ((recorder_stall(desk.recorder) != NULL) != hoped && clock_ms() < until) {
		(void)uv_run(&desk.loop, UV_RUN_NOWAIT);
		(void)usleep(1000);
	}
	return (recorder_stall(desk.recorder) != NULL) == hoped;
}

TEST(a_disk_that_does_not_answer_is_told_while_it_does_not)
{
	struct recording *recording = &desk.recordings[0];

	CHECK(open_desk());
	atomic_store(&disk_answers, false);
	recording->kind = RECORDING_CARE;
	recording->durability = STORE_NOW;
	recording->write = write_slowly;
	recording->done = on_done;
	recorder_put(desk.recorder, recording);
	CHECK(stalls(true));
	CHECK_STR(store_trouble(recorder_stall(desk.recorder)), "stalled");
	CHECK(recorder_trouble_ms(desk.recorder) >= 2000);
	CHECK(recorder_trouble(desk.recorder) == NULL); /* runs are admitted a while longer */
	atomic_store(&disk_answers, true);
	CHECK(wait_for(1));
	CHECK(stalls(false));
	CHECK_EQ_INT(failed, 0);
	close_desk();
}
