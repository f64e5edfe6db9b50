#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/runs/capture.h"
#include "tests/check.h"

struct pipe_pair {
	int ends[2];
};

static struct pipe_pair open_pipe(void)
{
	struct pipe_pair pair = { { -1, -1 } };

	if (pipe2(pair.ends, O_NONBLOCK | O_CLOEXEC) < 0)
		check_failed(__FILE__, __LINE__, "pipe2");
	return pair;
}

static void close_pipe(struct pipe_pair *pair)
{
	close(pair->ends[0]);
	close(pair->ends[1]);
}

static void put(const struct pipe_pair *pair, const char *bytes, size_t len)
{
	CHECK_EQ_INT(write(pair->ends[1], bytes, len), (ssize_t)len);
}

static void expect_kept(struct capture *capture, const char *head, const char *tail)
{
	const char *kept_head, *kept_tail;
	size_t head_len, tail_len;

	capture_kept(capture, &kept_head, &head_len, &kept_tail, &tail_len);
	CHECK_EQ_INT(head_len, strlen(head));
	CHECK(!memcmp(kept_head, head, head_len));
	CHECK_EQ_INT(tail_len, strlen(tail));
	CHECK(!memcmp(kept_tail, tail, tail_len));
}

TEST(bytes_that_come_in_another_way_count_like_those_of_a_pipe)
{
	struct capture capture;

	capture_init(&capture, 5, false);
	CHECK_EQ_INT(capture_put(&capture, "123", 3), CAPTURE_MORE);
	CHECK_EQ_INT(capture_put(&capture, "45", 2), CAPTURE_MORE);
	CHECK(!capture.passed);
	CHECK_EQ_INT(capture_put(&capture, "67", 2), CAPTURE_PASSED);
	CHECK_EQ_INT(capture_put(&capture, "8", 1), CAPTURE_PASSED);
	CHECK(capture.passed);
	expect_kept(&capture, "12345", "");
	capture_done(&capture);
}

TEST(where_only_the_front_counts_all_of_the_cap_is_kept_from_there)
{
	struct capture capture;
	size_t len = 0;
	char *front;

	capture_init(&capture, 5, true);
	capture.front_only = true;
	CHECK(!capture_front(&capture, &len));
	CHECK_EQ_INT(capture_put(&capture, "1234567", 7), CAPTURE_MORE);
	CHECK_EQ_INT(capture_put(&capture, "8", 1), CAPTURE_MORE);
	CHECK(capture.passed && !capture.tail);
	CHECK_EQ_INT(capture.total, 8);
	front = capture_front(&capture, &len);
	CHECK(front && len == 5 && !memcmp(front, "12345", 5));
	front[5] = '\0'; /* it may be written */
	capture_done(&capture);
}

TEST(exactly_the_cap_is_no_breach)
{
	struct pipe_pair pair = open_pipe();
	struct capture capture;

	capture_init(&capture, 5, false);
	put(&pair, "12345", 5);
	CHECK_EQ_INT(capture_read(&capture, pair.ends[0]), CAPTURE_DRY);
	CHECK(!capture.passed);
	expect_kept(&capture, "12345", "");
	capture_done(&capture);
	close_pipe(&pair);
}

/*
 * A packet pipe may return one byte per read, if its writer chooses so.  This descriptor returns
 * eight bytes per read, without end.
 */
TEST(a_visit_ends_however_little_each_read_gives)
{
	int fd = eventfd(UINT32_MAX, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC);
	struct capture capture;

	capture_init(&capture, 1 << 20, true);
	CHECK_EQ_INT(capture_read(&capture, fd), CAPTURE_MORE);
	CHECK(capture.total <= 8192);
	capture_done(&capture);
	close(fd);
}

TEST(the_byte_past_the_cap_is_noticed_and_not_kept)
{
	struct pipe_pair pair = open_pipe();
	struct capture capture;

	capture_init(&capture, 5, false);
	put(&pair, "123456789", 9);
	CHECK_EQ_INT(capture_read(&capture, pair.ends[0]), CAPTURE_PASSED);
	CHECK(capture.passed);
	CHECK_EQ_INT(capture.total, 5);
	expect_kept(&capture, "12345", "");
	capture_done(&capture);
	close_pipe(&pair);
}

TEST(a_cap_of_0_lets_nothing_through)
{
	struct pipe_pair pair = open_pipe();
	struct capture capture;

	capture_init(&capture, 0, false);
	CHECK_EQ_INT(capture_read(&capture, pair.ends[0]), CAPTURE_DRY);
	put(&pair, "x", 1);
	CHECK_EQ_INT(capture_read(&capture, pair.ends[0]), CAPTURE_PASSED);
	expect_kept(&capture, "", "");
	capture_done(&capture);
	close_pipe(&pair);
}

TEST(byte_by_byte_is_the_same_as_at_once)
{
	struct pipe_pair pair = open_pipe();
	struct capture capture;

	capture_init(&capture, 4, false);
	for (int i = 0; i < 4; i++) {
		put(&pair, "x", 1);
		CHECK_EQ_INT(capture_read(&capture, pair.ends[0]), CAPTURE_DRY);
	}
	put(&pair, "x", 1);
	CHECK_EQ_INT(capture_read(&capture, pair.ends[0]), CAPTURE_PASSED);
	expect_kept(&capture, "xxxx", "");
	capture_done(&capture);
	close_pipe(&pair);
}

TEST(truncate_keeps_the_first_half_and_the_last)
{
	struct pipe_pair pair = open_pipe();
	struct capture capture;

	capture_init(&capture, 6, true);
	put(&pair, "abcdefghijklmnop", 16);
	CHECK_EQ_INT(capture_read(&capture, pair.ends[0]), CAPTURE_DRY);
	CHECK(capture.passed);
	CHECK_EQ_INT(capture.total, 16);
	expect_kept(&capture, "abc", "nop");
	capture_done(&capture);
	close_pipe(&pair);
}

TEST(truncate_that_cuts_nothing_gives_one_whole_text)
{
	struct pipe_pair pair = open_pipe();
	struct capture capture;

	capture_init(&capture, 6, true);
	put(&pair, "abcdef", 6);
	CHECK_EQ_INT(capture_read(&capture, pair.ends[0]), CAPTURE_DRY);
	CHECK(!capture.passed);
	expect_kept(&capture, "abcdef", "");
	capture_done(&capture);
	close_pipe(&pair);
}

TEST(a_cut_never_splits_a_character)
{
	struct pipe_pair pair = open_pipe();
	struct capture capture;

	capture_init(&capture, 4, false);
	put(&pair, "ab\xe2\x82\xac", 5); /* two letters and a euro sign of three bytes */
	CHECK_EQ_INT(capture_read(&capture, pair.ends[0]), CAPTURE_PASSED);
	expect_kept(&capture, "ab", "");
	capture_done(&capture);

	capture_init(&capture, 6, true);
	put(&pair, "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", 12);
	CHECK_EQ_INT(capture_read(&capture, pair.ends[0]), CAPTURE_DRY);
	expect_kept(&capture, "\xe2\x82\xac", "\xe2\x82\xac");
	capture_done(&capture);
	close_pipe(&pair);
}

TEST(what_is_no_text_keeps_every_byte_of_the_cap)
{
	struct pipe_pair pair = open_pipe();
	struct capture capture;

	capture_init(&capture, 4, false);
	put(&pair, "\xff\xfe\xfd\xe2\x82\xac", 6);
	CHECK_EQ_INT(capture_read(&capture, pair.ends[0]), CAPTURE_PASSED);
	expect_kept(&capture, "\xff\xfe\xfd\xe2", "");
	capture_done(&capture);
	close_pipe(&pair);
}

TEST(memory_stays_within_twice_the_cap_while_a_program_floods)
{
	static char block[65536];
	struct pipe_pair pair = open_pipe();
	struct capture capture;

	capture_init(&capture, 100000, true);
	for (int i = 0; i < 200; i++) {
		put(&pair, block, sizeof(block));
		CHECK(capture_read(&capture, pair.ends[0]) != CAPTURE_ENDED);
	}
	CHECK_EQ_INT(capture.total, 200 * sizeof(block));
	CHECK(capture.head_size <= 65536);
	CHECK_EQ_INT(capture.tail_size, 50000 + CAPTURE_BEFORE);
	capture_done(&capture);
	close_pipe(&pair);
}

TEST(what_stood_in_front_of_the_tail_is_there_and_no_part_of_it)
{
	static char block[30000];
	struct pipe_pair pair = open_pipe();
	struct capture capture;
	const char *head, *tail;
	size_t head_len, tail_len;

	for (size_t i = 0; i < sizeof(block); i++)
		block[i] = (char)('a' + i / 997 % 26);
	capture_init(&capture, 2000, true);
	put(&pair, block, sizeof(block));
	CHECK(capture_read(&capture, pair.ends[0]) == CAPTURE_DRY);
	capture_kept(&capture, &head, &head_len, &tail, &tail_len);
	CHECK_EQ_INT(tail_len, 1000);
	CHECK_EQ_INT(tail - capture.tail, CAPTURE_BEFORE);
	CHECK(!memcmp(tail - CAPTURE_BEFORE, block + sizeof(block) - 1000 - CAPTURE_BEFORE,
		1000 + CAPTURE_BEFORE));
	capture_done(&capture);
	close_pipe(&pair);
}

TEST(the_end_of_the_stream_is_told)
{
	struct pipe_pair pair = open_pipe();
	struct capture capture;

	capture_init(&capture, 10, false);
	put(&pair, "bye", 3);
	close(pair.ends[1]);
	CHECK_EQ_INT(capture_read(&capture, pair.ends[0]), CAPTURE_ENDED);
	expect_kept(&capture, "bye", "");
	capture_done(&capture);
	close(pair.ends[0]);
}
