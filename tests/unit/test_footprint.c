#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "proto/base/cleanup.h"
#include "sandbox/worker/footprint.h"
#include "tests/check.h"
#include "tests/unit/jailing.h"

#define PAGES 64

static struct err err = ERR_INIT;
static char *memory;

/* Touches every fourth page, reports that and waits to be killed. */
static pid_t fork_learner(int done[2])
{
	pid_t pid = fork();

	if (pid == 0) {
		for (size_t i = 0; i < PAGES; i += 4)
			memory[i * 4096] = 2;
		(void)!write(done[1], "d", 1);
		for (;;)
			(void)pause();
	}
	return pid;
}

static bool covers(const struct footprint *footprint, uintptr_t page)
{
	for (size_t i = 0; i < footprint->count; i++)
		if (page >= footprint->ranges[i].start &&
			page - footprint->ranges[i].start < footprint->ranges[i].len)
			return true;
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

	footprint_touch(context);
	before = faults();
	for (size_t i = 0; i < PAGES; i += 4)
		memory[i * 4096] = 3;
	during = faults() - before;
	printf("# %ld faults\n", during);
	return during > 4; /* instead of 16 */
}

TEST(pages_that_a_child_wrote_are_found_and_made_a_worker_s_own)
{
	static struct footprint footprint;
	auto_fd int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int done[2];
	char byte;
	pid_t pid;

	if (is_emulated())
		SKIP("madvise is not emulated");
	memory = mmap(NULL, (size_t)PAGES * 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED && pipe(done) == 0);
	memset(memory, 1, (size_t)PAGES * 4096);
	pid = fork_learner(done);
	CHECK(pid > 0 && read(done[0], &byte, 1) == 1);
	CHECK(footprint_read(&footprint, proc, pid, &err) == 0);
	(void)kill(pid, SIGKILL);
	CHECK(waitpid(pid, NULL, 0) == pid);
	CHECK_EQ_INT(pages_that_are_wrong(&footprint), 0);
	CHECK_EQ_INT(in_child(use, &footprint), 0);
}

TEST(a_child_that_is_not_there_has_no_footprint)
{
	static struct footprint footprint;
	auto_fd int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);

	CHECK(footprint_read(&footprint, proc, 0x7ffffff0, &err) < 0);
	CHECK_EQ_INT(footprint.count, 0);
	footprint_touch(&footprint);
}
