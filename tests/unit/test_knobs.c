#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/workers/knobs.h"
#include "proto/base/container.h"
#include "tests/check.h"

static const struct job_limits LIMITS = { .memory_bytes = 4096, .pids = 7, .cpu_percent = 250 };

static int file_of(const char *text)
{
	int fd = memfd_create("knob", MFD_CLOEXEC);

	if (write(fd, text, strlen(text)) < 0)
		check_failed(__FILE__, __LINE__, "write");
	return fd;
}

/* One knob whose file has this text. */
static struct knobs knobs_of(enum priv_knob which, const char *text)
{
	struct knobs knobs;

	knobs_init(&knobs);
	knobs.fds[which] = file_of(text);
	return knobs;
}

static void file_says(int fd, const char *hoped)
{
	char text[64] = "";

	CHECK(pread(fd, text, sizeof(text) - 1, 0) >= 0);
	CHECK_STR(text, hoped);
}

TEST(knobs_that_are_not_there_cost_nothing_and_say_nothing)
{
	struct knobs knobs;
	struct knob_counts counts = { 1, 1, 1, 1, 1, 1, true };

	knobs_init(&knobs);
	CHECK_EQ_INT(knobs_set(&knobs, &LIMITS), 0);
	knobs_count(&knobs, &counts);
	CHECK(!counts.cpu_user_us && !counts.cpu_sys_us && !counts.oom_kills);
	CHECK(!counts.pids_refused && !knobs_cpu_us(&knobs) && !knobs_memory_peak(&knobs, &counts));
	knobs_kill(&knobs);
	knobs_begin(&knobs, &counts);
	knobs_settle(&knobs);
	knobs_done(&knobs);
	knobs_done(&knobs);
}

TEST(limits_are_written_when_they_differ)
{
	struct knobs knobs = knobs_of(KNOB_MEMORY_MAX, "");

	knobs.fds[KNOB_PIDS_MAX] = file_of("");
	knobs.fds[KNOB_SWAP_MAX] = file_of("");
	knobs.fds[KNOB_CPU_MAX] = file_of("");
	CHECK_EQ_INT(knobs_set(&knobs, &LIMITS), 0);
	file_says(knobs.fds[KNOB_MEMORY_MAX], "4096");
	file_says(knobs.fds[KNOB_SWAP_MAX], "4096");
	file_says(knobs.fds[KNOB_PIDS_MAX], "7");
	file_says(knobs.fds[KNOB_CPU_MAX], "250000"); /* us in each 100 ms, for both versions */
	for (int i = KNOB_PIDS_MAX; i <= KNOB_CPU_MAX; i += KNOB_CPU_MAX - KNOB_PIDS_MAX)
		CHECK_EQ_INT(pwrite(knobs.fds[i], "x", 1, 0), 1);
	CHECK_EQ_INT(knobs_set(&knobs, &LIMITS), 0);
	file_says(knobs.fds[KNOB_PIDS_MAX], "x"); /* not written again */
	file_says(knobs.fds[KNOB_CPU_MAX], "x50000");
	knobs_done(&knobs);
}

TEST(a_limit_that_is_refused_is_told_and_tried_again_next_time)
{
	struct knobs knobs;

	knobs_init(&knobs);
	knobs.fds[KNOB_PIDS_MAX] = open("/dev/full", O_WRONLY | O_CLOEXEC);
	CHECK_EQ_INT(knobs_set(&knobs, &LIMITS), -1);
	CHECK_EQ_INT(knobs_set(&knobs, &LIMITS), -1);
	knobs_done(&knobs);
}

TEST(cpu_time_is_read_from_both_kinds_of_cgroup)
{
	static const struct {
		const char *text;
		uint64_t user_us, sys_us;
	} rows[] = {
		{ "usage_usec 30\nuser_usec 10\nsystem_usec 20\n", 10, 20 },
		{ "5000000\n", 5000, 0 },
		{ "", 0, 0 },
		{ "not_user_usec 5\n", 0, 0 },
	};

	for (unsigned i = 0; i < COUNT_OF(rows); i++) {
		struct knobs knobs = knobs_of(KNOB_CPU_USAGE, rows[i].text);
		struct knob_counts counts;

		knobs_count(&knobs, &counts);
		CHECK_EQ_INT(counts.cpu_user_us, rows[i].user_us);
		CHECK_EQ_INT(counts.cpu_sys_us, rows[i].sys_us);
		CHECK_EQ_INT(knobs_cpu_us(&knobs), rows[i].user_us + rows[i].sys_us);
		knobs_done(&knobs);
	}
}

TEST(events_are_found_by_their_whole_name_at_the_start_of_a_line)
{
	struct knobs knobs = knobs_of(
		KNOB_MEMORY_EVENTS, "oom 9\noom_kill_disable 8\noom_kill 3\noom_group_kill 7\n");
	struct knob_counts counts;

	knobs.fds[KNOB_PIDS_EVENTS] = file_of("max 12");
	knobs_count(&knobs, &counts);
	CHECK_EQ_INT(counts.oom_kills, 3);
	CHECK_EQ_INT(counts.pids_refused, 12);
	knobs_done(&knobs);
}

TEST(a_peak_begins_anew_with_each_worker)
{
	struct knobs knobs = knobs_of(KNOB_MEMORY_PEAK, "9");
	struct knob_counts counts;

	knobs_begin(&knobs, &counts);
	file_says(knobs.fds[KNOB_MEMORY_PEAK], "0");
	CHECK_EQ_INT(pwrite(knobs.fds[KNOB_MEMORY_PEAK], "4096", 4, 0), 4);
	CHECK_EQ_INT(knobs_memory_peak(&knobs, &counts), 4096);
	knobs_done(&knobs);
}

TEST(a_peak_that_cannot_begin_anew_is_a_runs_own_only_when_it_has_passed_it)
{
	struct knobs knobs = knobs_of(KNOB_MEMORY_PEAK, "4096");
	struct knob_counts counts;
	int writable = knobs.fds[KNOB_MEMORY_PEAK];
	char name[32];

	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", writable);
	knobs.fds[KNOB_MEMORY_PEAK] = open(name, O_RDONLY | O_CLOEXEC);
	knobs_begin(&knobs, &counts);
	CHECK_EQ_INT(knobs_memory_peak(&knobs, &counts), 0); /* of an earlier worker */
	CHECK_EQ_INT(pwrite(writable, "8192", 4, 0), 4);
	CHECK_EQ_INT(knobs_memory_peak(&knobs, &counts), 8192);
	close(writable);
	knobs_done(&knobs);
}

TEST(what_never_changes_is_written_once_and_let_go)
{
	struct knobs knobs = knobs_of(KNOB_SWAP_OFF, "");
	int swap = dup(knobs.fds[KNOB_SWAP_OFF]);

	knobs_settle(&knobs);
	file_says(swap, "0");
	CHECK(!knobs_hold(&knobs, KNOB_SWAP_OFF) && !knobs_hold(&knobs, KNOB_OOM_GROUP));
	close(swap);
	knobs_done(&knobs);
}

TEST(growth_is_never_below_nothing)
{
	CHECK_EQ_INT(knobs_since(3, 5), 2);
	CHECK_EQ_INT(knobs_since(5, 0), 0);
}

TEST(what_the_spawner_gives_is_taken_by_name)
{
	struct priv_knobs which = { 3, { KNOB_JOIN, KNOB_KILL, KNOB_JOIN } };
	int fds[] = { file_of(""), file_of(""), file_of("") };
	struct knobs knobs;

	knobs_init(&knobs);
	CHECK_EQ_INT(knobs_take(&knobs, &which, fds, 3), 0);
	CHECK_EQ_INT(knobs.join_count, 2);
	CHECK(knobs_hold(&knobs, KNOB_KILL) && !knobs_hold(&knobs, KNOB_MEMORY_MAX));
	knobs_kill(&knobs);
	file_says(knobs.fds[KNOB_KILL], "1");
	knobs_done(&knobs);
	CHECK(fcntl(fds[0], F_GETFD) < 0 && fcntl(fds[1], F_GETFD) < 0);
}

TEST(a_list_that_makes_no_sense_is_refused_and_every_descriptor_closed_in_the_end)
{
	static const struct priv_knobs rows[] = {
		{ 2, { KNOB_KILL } },                /* one descriptor too few */
		{ 1, { KNOB_NONE } },                /* no knob */
		{ 1, { KNOB_COUNT } },               /* no knob either */
		{ 1, { UINT32_MAX } },               /* far outside the table */
		{ PRIV_FDS_MAX + 1, { KNOB_KILL } }, /* more than a message can carry */
	};

	for (unsigned i = 0; i < COUNT_OF(rows); i++) {
		struct knobs knobs;
		int fd = file_of("");

		knobs_init(&knobs);
		CHECK_EQ_INT(knobs_take(&knobs, &rows[i], &fd, 1), -1);
		knobs_done(&knobs);
		CHECK(fcntl(fd, F_GETFD) < 0);
	}
}

TEST(more_files_to_join_than_there_is_room_for_are_refused)
{
	struct priv_knobs which = { 7,
		{ KNOB_JOIN, KNOB_JOIN, KNOB_JOIN, KNOB_JOIN, KNOB_JOIN, KNOB_JOIN, KNOB_JOIN } };
	struct knobs knobs;
	int fds[7];

	for (int i = 0; i < 7; i++)
		fds[i] = file_of("");
	knobs_init(&knobs);
	CHECK_EQ_INT(knobs_take(&knobs, &which, fds, 7), -1);
	CHECK_EQ_INT(knobs.join_count, 6);
	knobs_done(&knobs);
	for (int i = 0; i < 7; i++)
		CHECK(fcntl(fds[i], F_GETFD) < 0);
}

TEST(what_was_killed_below_its_own_limit_was_killed_for_one_above)
{
	struct knobs knobs;
	struct knob_counts before = { .oom_kills = 1 };
	struct knob_counts after = { .oom_kills = 1 };
	const uint64_t limit = 64 << 20;

	knobs_init(&knobs);
	CHECK(!knobs_short_above(&knobs, &before, &after, limit)); /* nothing was killed */
	after.oom_kills = 2;
	CHECK(!knobs_short_above(&knobs, &before, &after, limit)); /* no knob tells the peak */
	knobs.fds[KNOB_MEMORY_PEAK] = file_of("13000000\n");
	CHECK(knobs_short_above(&knobs, &before, &after, limit));
	close(knobs.fds[KNOB_MEMORY_PEAK]);
	knobs.fds[KNOB_MEMORY_PEAK] = file_of("67108864\n");
	CHECK(!knobs_short_above(&knobs, &before, &after, limit));
	before.has_oom_own = after.has_oom_own = true; /* v2 counts it */
	CHECK(knobs_short_above(&knobs, &before, &after, limit));
	after.oom_own = 1;
	CHECK(!knobs_short_above(&knobs, &before, &after, limit));
	knobs_done(&knobs);
}
