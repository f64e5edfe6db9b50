#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/loop/trim.h"
#include "tests/check.h"

#define PIECES      4096
#define PIECE_BYTES 8192

TEST(it_is_due_when_much_was_held_and_has_been_given_back)
{
	uint64_t peak = 100;

	CHECK(!trim_is_due(&peak, 0));
	CHECK_EQ_INT(peak, 100);
	peak = TRIM_BYTES + 1000;
	CHECK(!trim_is_due(&peak, 1001));
	CHECK(trim_is_due(&peak, 1000));
	CHECK_EQ_INT(peak, 1000);
	CHECK(!trim_is_due(&peak, 1000));
}

#if !defined(__SANITIZE_ADDRESS__) && \
	!defined(__SANITIZE_THREAD__) /* sanitizers have their own allocator */
static size_t resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long all = 0;
	unsigned long resident = 0;

	if (file && fscanf(file, "%lu %lu", &all, &resident) != 2)
		resident = 0;
	if (file)
		(void)fclose(file);
	return (size_t)resident * 4096;
}

/*
 * A piece that stays in use above the free ones keeps the C library from returning them by itself.
 */
TEST(what_is_free_below_something_in_use_goes_back_to_the_system)
{
	static char *volatile pieces[PIECES + 1]; /* else the compiler drops unused pieces */
	const size_t half = (size_t)PIECES * PIECE_BYTES / 2;
	size_t much, freed;
	uv_loop_t loop;

	for (size_t i = 0; i <= PIECES; i++) {
		pieces[i] = malloc(PIECE_BYTES);
		CHECK(pieces[i]);
		memset(pieces[i], 1, PIECE_BYTES);
	}
	for (size_t i = 0; i < PIECES; i++)
		free(pieces[i]);
	much = resident_bytes();
	(void)uv_loop_init(&loop);
	trim_start(&loop);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	freed = resident_bytes();
	CHECK(freed + half < much);
	free(pieces[PIECES]);
	(void)uv_loop_close(&loop);
}
#endif
