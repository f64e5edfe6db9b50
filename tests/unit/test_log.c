#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "proto/base/log.h"
#include "tests/check.h"

/* A test's output on stderr. */
static char written[16384];

struct capture {
	int read_end;
	int true_stderr;
};

static struct capture capture_start(void)
{
	int fds[2] = { -1, -1 };
	struct capture capture;

	if (pipe2(fds, O_CLOEXEC) < 0)
		abort();
	capture.true_stderr = dup(STDERR_FILENO);
	capture.read_end = fds[0];
	(void)dup2(fds[1], STDERR_FILENO);
	close(fds[1]);
	return capture;
}

static const char *capture_end(struct capture *capture)
{
	ssize_t len;
	size_t at = 0;

	(void)dup2(capture->true_stderr, STDERR_FILENO);
	close(capture->true_stderr);
	while ((len = read(capture->read_end, written + at, sizeof(written) - 1 - at)) > 0)
		at += (size_t)len;
	close(capture->read_end);
	written[at] = '\0';
	return written;
}

TEST(an_event_is_one_line_with_its_level_in_front)
{
	struct capture capture = capture_start();

	log_start("ced", LOG_LEVEL_INFO);
	log_event(LOG_LEVEL_INFO, "request.done", LOG_INT("id", 81), LOG_STR("verdict", "allow"),
		LOG_INT("change", -5), LOG_STR("nothing", NULL));
	CHECK_STR(capture_end(&capture),
		"<6>ced request.done id=81 verdict=allow change=-5 nothing=\"\"\n");
}

/* Returns the text that a terminal gets for one warning and one ordinary event. */
static void write_to_terminal(char *ret_text, size_t size)
{
	int true_stderr = dup(STDERR_FILENO);
	int terminal = posix_openpt(O_RDWR | O_NOCTTY);
	int end = -1;
	size_t at = 0;
	ssize_t len;

	memset(ret_text, 0, size);
	CHECK(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
	end = open(ptsname(terminal), O_RDWR | O_NOCTTY);
	CHECK(end >= 0);
	(void)dup2(end, STDERR_FILENO);
	log_start("ced", LOG_LEVEL_INFO);
	log_event(LOG_LEVEL_WARNING, "slot.lost", LOG_INT("slot", 3));
	log_event(LOG_LEVEL_INFO, "ready", LOG_INT("n", 1));
	(void)dup2(true_stderr, STDERR_FILENO);
	close(true_stderr);
	while (!strstr(ret_text, "n=1") && at + 1 < size &&
		(len = read(terminal, ret_text + at, size - 1 - at)) > 0)
		at += (size_t)len;
	close(end);
	close(terminal);
}

TEST(on_a_terminal_a_word_stands_in_place_of_the_level)
{
	char text[256] = "";

	write_to_terminal(text, sizeof(text));
	log_start("ced", LOG_LEVEL_INFO);
	CHECK(strstr(text, "warning: ced slot.lost slot=3"));
	CHECK(strstr(text, "\nced ready n=1"));
	CHECK(!strstr(text, "<"));
}

TEST(events_below_the_wanted_level_are_not_written)
{
	struct capture capture = capture_start();

	log_start("ced", LOG_LEVEL_WARNING);
	log_event(LOG_LEVEL_NOTICE, "quiet", LOG_INT("n", 1));
	log_event(LOG_LEVEL_ERROR, "loud", LOG_INT("n", 2));
	CHECK_STR(capture_end(&capture), "<3>ced loud n=2\n");
}

TEST(a_value_cannot_forge_a_line_or_reach_a_terminal)
{
	struct capture capture = capture_start();

	log_start("ced", LOG_LEVEL_DEBUG);
	log_event(LOG_LEVEL_DEBUG, "x", LOG_STR("a", "two words"), LOG_STR("b", "n\n<0>ced evil"),
		LOG_STR("c", "\x1b[31m\x9b\t\r"), LOG_STR("d", "q\"b\\e"), LOG_STR("e", "k=v"),
		LOG_STR("f", "\xe2\x80\xae\x7f"));
	CHECK_STR(capture_end(&capture),
		"<7>ced x a=\"two words\" b=\"n\\n<0>ced evil\" c=\"\\x1b[31m\\x9b\\t\\x0d\""
		" d=\"q\\\"b\\\\e\" e=\"k=v\" f=\"\\xe2\\x80\\xae\\x7f\"\n");
}

TEST(a_line_too_long_is_cut_and_says_so)
{
	struct capture capture = capture_start();
	char text[9000];
	const char *got;
	size_t len;

	memset(text, '\n', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	log_start("ced", LOG_LEVEL_INFO);
	log_event(LOG_LEVEL_INFO, "long", LOG_STR("text", text), LOG_INT("after", 1));
	got = capture_end(&capture);
	len = strlen(got);
	CHECK(len > 4080 && len <= 4096);
	CHECK_STR(got + len - 6, "\\n...\n");
	CHECK(strchr(got, '\n') == got + len - 1);
}

TEST(a_plain_value_too_long_is_cut_as_well)
{
	struct capture capture = capture_start();
	char text[9000];
	const char *got;

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	log_start("ced", LOG_LEVEL_INFO);
	log_event(LOG_LEVEL_INFO, "long", LOG_STR("text", text), LOG_INT("after", 1));
	got = capture_end(&capture);
	CHECK(strlen(got) <= 4096);
	CHECK_STR(strchr(got, '.'), "...\n");
	CHECK(strlen(got) > 4000);
}

TEST(a_limited_line_says_how_many_were_swallowed)
{
	struct capture capture = capture_start();
	struct log_limit limit = { 0, 0, 0 };
	struct log_field field = LOG_INT("n", 1);

	log_start("ced", LOG_LEVEL_INFO);
	for (int i = 0; i < 10; i++)
		log_limited(&limit, 2, LOG_LEVEL_INFO, "again", &field, 1);
	limit.window_start_ms -= 60000; /* a minute passes */
	for (int i = 0; i < 3; i++)
		log_limited(&limit, 2, LOG_LEVEL_INFO, "again", &field, 1);
	CHECK_STR(capture_end(&capture), "<6>ced again n=1\n<6>ced again n=1\n"
					 "<6>ced again n=1 swallowed=8\n<6>ced again n=1\n");
}

TEST(a_log_that_cannot_be_written_hurts_nobody)
{
	int true_stderr = dup(STDERR_FILENO);
	auto_fd int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	CHECK(full >= 0);
	(void)dup2(full, STDERR_FILENO);
	log_event(LOG_LEVEL_ERROR, "lost", LOG_INT("n", 1));
	(void)dup2(true_stderr, STDERR_FILENO);
	close(true_stderr);
}

static void drain(int fd)
{
	char bytes[4096];
	int left = 0;

	while (ioctl(fd, FIONREAD, &left) == 0 && left > 0)
		if (read(fd, bytes, sizeof(bytes)) <= 0)
			abort();
}

TEST(a_line_that_nobody_reads_is_dropped_and_the_next_one_says_so)
{
	struct capture capture = capture_start();
	uint64_t before = log_dropped();

	log_start("ced", LOG_LEVEL_INFO);
	log_event(LOG_LEVEL_INFO, "begins"); /* reports what other tests dropped */
	while (log_dropped() < before + 3)
		log_event(LOG_LEVEL_INFO, "flood");
	drain(capture.read_end);
	log_event(LOG_LEVEL_INFO, "after");
	CHECK_STR(capture_end(&capture), "<4>ced log.dropped lines=3\n<6>ced after\n");
}

TEST(the_monotonic_clock_does_not_run_backwards)
{
	int64_t before = clock_us();

	for (int i = 0; i < 1000; i++) {
		int64_t now = clock_us();

		CHECK(now >= before);
		before = now;
	}
	CHECK(clock_ms() >= before / 1000);
	CHECK(clock_wall_us() > 1600000000000000);
}
