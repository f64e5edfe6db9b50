#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/fault.h"

/* A function with two allocations that cleans up after itself. */
static int two_allocations(void)
{
	char *volatile first = malloc(10);
	char *volatile second = first ? strdup("second") : NULL;
	int r = second ? 0 : -1;

	free(first);
	free(second);
	return r;
}

TEST(the_loop_fails_each_allocation_once_and_then_none)
{
	unsigned failures = 0, successes = 0;

	FAULT_LOOP(FAULT_ALLOC) {
		if (two_allocations() < 0)
			failures++;
		else
			successes++;
	}
	CHECK_EQ_INT(failures, 2);
	CHECK_EQ_INT(successes, 1);
}

static void leave_a_loop_early(void)
{
	FAULT_LOOP(FAULT_ALLOC) {
		return;
	}
}

TEST(leaving_the_loop_takes_the_fault_away)
{
	leave_a_loop_early();
	CHECK_EQ_INT(two_allocations(), 0);
}

TEST(a_failing_read_reports_an_error_and_takes_no_bytes)
{
	char bytes[4];
	int fds[2];

	CHECK_EQ_INT(pipe(fds), 0);
	CHECK_EQ_INT(write(fds[1], "abc", 3), 3);

	fault_arm(FAULT_READ, 1);
	CHECK_EQ_INT(read(fds[0], bytes, sizeof(bytes)), -1);
	CHECK_EQ_INT(errno, EIO);
	CHECK(fault_hit());
	CHECK_EQ_INT(read(fds[0], bytes, sizeof(bytes)), 3);
	(void)close(fds[0]);
	(void)close(fds[1]);
}

TEST(a_short_read_leaves_the_rest_for_the_next_one)
{
	char bytes[4];
	int fds[2];

	CHECK_EQ_INT(pipe(fds), 0);
	CHECK_EQ_INT(write(fds[1], "abc", 3), 3);

	fault_arm(FAULT_SHORT_READ, 1);
	CHECK_EQ_INT(read(fds[0], bytes, sizeof(bytes)), 1);
	CHECK_EQ_INT(read(fds[0], bytes, sizeof(bytes)), 2);
	(void)close(fds[0]);
	(void)close(fds[1]);
}
