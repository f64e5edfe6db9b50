#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "proto/base/cleanup.h"
#include "sandbox/worker/footprint.h"
#include "tests/check.h"
#include "tests/unit/jailing.h"

#define PAGES 64

static struct err err = ERR_INIT;
static char *memory;

/* Touches every page whose number `step` divides, reports that and waits to be killed. */
static pid_t fork_learner(const int done[2], size_t step)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (size_t i = 0; i < PAGES; i += step)
			memory[i * 4096] = 2;
		(void)!write(done[1], "d", 1);
		for (;;)
			(void)pause();
	}
	return pid;
}

static bool learn(struct footprint_survey *survey, int proc, size_t step)
{
	int done[2] = { -1, -1 };
	char byte;
	pid_t pid;
	bool added;

	if (pipe(done) < 0)
		return false;
	pid = fork_learner(done, step);
	added = pid > 0 && read(done[0], &byte, 1) == 1 &&
		footprint_survey_add(survey, proc, pid, &err) == 0;
	close(done[0]);
	close(done[1]);
	(void)kill(pid, SIGKILL);
	return waitpid(pid, NULL, 0) == pid && added;
}

static bool covers(const struct footprint *footprint, uintptr_t page)
{
	for (size_t i = 0; i < footprint->writes.count; i++) {
		const struct iovec *range = &footprint->writes.ranges[i];

		if (page >= (uintptr_t)range->iov_base &&
			page - (uintptr_t)range->iov_base < range->iov_len)
			return true;
	}
	return false;
}

/*
 * Counts the pages that are covered but were not written, or were written but are not covered.  A
 * range may include memory next to ours.
 */
static size_t pages_that_are_wrong(const struct footprint *footprint)
{
	size_t count = 0;

	for (size_t i = 0; i < PAGES; i++)
		if (covers(footprint, (uintptr_t)memory + i * 4096) != (i % 4 == 0))
			count++;
	return count;
}

static long faults(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

/* In a second child: the pages are present before it touches them. */
static int use(void *context)
{
	long before;
	long during;

	(void)footprint_touch(context);
	before = faults();
	for (size_t i = 0; i < PAGES; i += 4)
		memory[i * 4096] = 3;
	during = faults() - before;
	printf("# %ld faults\n", during);
	return during > 4; /* instead of 16 */
}

/* Every eighth page is touched by three learners, every fourth by two, every second by one. */
TEST(pages_that_most_of_the_children_wrote_are_found_and_made_a_worker_s_own)
{
	static struct footprint footprint;
	struct footprint_survey survey = { .count = 0 };
	auto_fd int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (is_emulated())
		SKIP("madvise is not emulated");
	memory = mmap(NULL, (size_t)PAGES * 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED);
	memset(memory, 1, (size_t)PAGES * 4096);
	CHECK(learn(&survey, proc, 8) && learn(&survey, proc, 4) && learn(&survey, proc, 2));
	CHECK_EQ_INT(survey.learners, 3);
	footprint_choose(&footprint, &survey);
	CHECK_EQ_INT(survey.learners, 0);
	CHECK_EQ_INT(pages_that_are_wrong(&footprint), 0);
	CHECK_EQ_INT(in_child(use, &footprint), 0);
}

static size_t written_step = 4; /* of use_after_a_fork() */

/* Touching a page does not change it. */
static bool memory_is(char byte)
{
	for (size_t i = 0; i < PAGES; i++)
		if (memory[i * 4096] != byte)
			return false;
	return true;
}

/* A fork shares all pages again, and the copy of each is made before it is written to. */
static int use_after_a_fork(void *context)
{
	int hold[2];
	int status = 0;
	pid_t pid;
	long before;
	long during;

	(void)footprint_touch(context);
	if (pipe(hold) < 0 || (pid = fork()) < 0)
		return 1;
	if (pid == 0) {
		char byte;

		close(hold[1]);
		footprint_copy();
		_exit(read(hold[0], &byte, 1) != 0 || !memory_is(1));
	}
	if (!footprint_is_known())
		return 2;
	footprint_touch_again();
	if (!memory_is(1))
		return 4;
	before = faults();
	for (size_t i = 0; i < PAGES; i += written_step)
		memory[i * 4096] = 4;
	during = faults() - before;
	close(hold[1]);
	printf("# %ld faults\n", during);
	if (waitpid(pid, &status, 0) != pid || status != 0)
		return 5; /* what the state has is what the memory was at the fork */
	return during > 4 ? 3 : 0;
}

/* Makes `memory`, of which a learner touches every fourth page. */
static bool find_every_fourth(struct footprint *ret_footprint)
{
	struct footprint_survey survey = { .count = 0 };
	auto_fd int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);

	memory = mmap(NULL, (size_t)PAGES * 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	memset(memory, 1, (size_t)PAGES * 4096);
	if (!learn(&survey, proc, 4))
		return false;
	footprint_choose(ret_footprint, &survey);
	return true;
}

TEST(the_pages_are_made_a_worker_s_own_again_after_it_has_forked)
{
	static struct footprint footprint;

	if (is_emulated())
		SKIP("madvise is not emulated");
	CHECK(find_every_fourth(&footprint));
	CHECK_EQ_INT(in_child(use_after_a_fork, &footprint), 0);
}

/* Of `memory`, every second page of which the learner of cells has touched. */
static size_t pages_of_cells(const struct footprint *footprint)
{
	size_t count = 0;

	for (size_t i = 0; i < footprint->cells.count; i++) {
		const struct iovec *range = &footprint->cells.ranges[i];
		size_t at = (size_t)((const char *)range->iov_base - memory) / 4096;

		if (at < PAGES)
			count += at % 4 == 2 && range->iov_len == 4096 ? 1 : PAGES;
	}
	return count;
}

TEST(pages_of_cells_are_those_that_other_learners_have_not_touched)
{
	static struct footprint footprint;
	struct footprint_survey survey = { .count = 0 };
	auto_fd int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (is_emulated())
		SKIP("madvise is not emulated");
	CHECK(find_every_fourth(&footprint));
	CHECK(learn(&survey, proc, 2));
	footprint_choose_cells(&footprint, &survey);
	CHECK_EQ_INT(pages_that_are_wrong(&footprint), 0);
	CHECK_EQ_INT(pages_of_cells(&footprint), PAGES / 4);
	written_step = 2;
	CHECK_EQ_INT(in_child(use_after_a_fork, &footprint), 0);
	written_step = 4;
}

/* The kernel gives up at the first range that fails; the rest is made by one call each. */
TEST(a_range_that_is_gone_does_not_keep_the_others_from_being_touched)
{
	static struct footprint footprint;

	if (is_emulated())
		SKIP("madvise is not emulated");
	CHECK(find_every_fourth(&footprint));
	CHECK(footprint.writes.count > 1 && footprint.writes.count < FOOTPRINT_RANGES_MAX);
	memmove(footprint.writes.ranges + 1, footprint.writes.ranges,
		footprint.writes.count * sizeof(footprint.writes.ranges[0]));
	footprint.writes.ranges[0] = (struct iovec){ (void *)(uintptr_t)4096, 4096 };
	footprint.writes.count++;
	CHECK_EQ_INT(in_child(use, &footprint), 0);
}

TEST(a_child_that_is_not_there_adds_nothing)
{
	static struct footprint footprint;
	struct footprint_survey survey = { .count = 0 };
	auto_fd int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);

	CHECK(footprint_survey_add(&survey, proc, 0x7ffffff0, &err) < 0);
	CHECK_EQ_INT(survey.count + survey.learners, 0);
	footprint_choose(&footprint, &survey);
	CHECK_EQ_INT(footprint.writes.count + footprint.reads.count, 0);
	CHECK_EQ_INT(footprint_touch(&footprint), 0);
}

/* The kernel says by itself whether it can do it, so that a wrong number of ours is noticed. */
TEST(many_ranges_take_one_call_where_the_kernel_can_do_it)
{
	static struct footprint footprint;
	struct utsname name;
	int major = 0;
	int minor = 0;
	char *pages = mmap(NULL, (size_t)PAGES * 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(pages != MAP_FAILED && uname(&name) == 0);
	CHECK(sscanf(name.release, "%d.%d", &major, &minor) == 2);
	for (size_t i = 0; i < 10; i++)
		footprint.writes.ranges[i] = (struct iovec){ pages + i * 8192, 4096 };
	footprint.writes.count = 10;
	if (major > 6 || (major == 6 && minor >= 14))
		CHECK_EQ_INT(footprint_touch(&footprint), 1);
	else
		CHECK(footprint_touch(&footprint) >= 10);
	(void)munmap(pages, (size_t)PAGES * 4096);
}
