#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/terminal/piped.h"
#include "tests/check.h"

struct trial {
	int ends[2];
	struct arena arena;
	struct source source;
	struct err err;
	struct output notes;
};

static void start(struct trial *trial)
{
	*trial = (struct trial){ .err = ERR_INIT };
	if (pipe(trial->ends) < 0)
		abort();
	trial->notes.file = stderr;
	arena_init(&trial->arena, 64 << 20);
}

static int read_it(struct trial *trial)
{
	return piped_read(
		trial->ends[0], 50, &trial->notes, &trial->arena, &trial->source, &trial->err);
}

static void done(struct trial *trial)
{
	close(trial->ends[0]);
	if (trial->ends[1] >= 0)
		close(trial->ends[1]);
	arena_done(&trial->arena);
}

static void end_writing(struct trial *trial)
{
	close(trial->ends[1]);
	trial->ends[1] = -1;
}

TEST(a_pipe_is_read_to_its_end)
{
	struct trial trial;

	start(&trial);
	CHECK(piped_is_there(trial.ends[0]));
	CHECK_EQ_INT(write(trial.ends[1], "5\n", 2), 2);
	end_writing(&trial);
	CHECK_EQ_INT(read_it(&trial), 0);
	CHECK_EQ_INT(trial.source.len, 2);
	CHECK_STR(trial.source.bytes, "5\n");
	done(&trial);
}

TEST(a_pipe_without_a_byte_is_empty)
{
	struct trial trial;

	start(&trial);
	end_writing(&trial);
	CHECK_EQ_INT(read_it(&trial), 0);
	CHECK_EQ_INT(trial.source.len, 0);
	done(&trial);
}

TEST(a_pipe_that_stays_open_and_silent_is_given_up)
{
	struct trial trial;

	start(&trial);
	CHECK_EQ_INT(write(trial.ends[1], "half", 4), 4);
	CHECK_EQ_INT(read_it(&trial), -1);
	CHECK_EQ_INT(trial.err.code, ERR_TIMEOUT);
	CHECK(strstr(trial.err.text, "--stdin /dev/null"));
	done(&trial);
}

TEST(a_terminal_or_a_device_is_not_read)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	CHECK(!piped_is_there(null));
	CHECK(!piped_is_there(-1));
	close(null);
}
