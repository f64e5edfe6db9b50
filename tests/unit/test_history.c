#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/terminal/history.h"
#include "proto/base/err.h"
#include "tests/check.h"

static char folder[] = "/tmp/ced-history.XXXXXX";
static char path[128];

static void begin(void)
{
	cut_printf(folder, sizeof(folder), "%s", "/tmp/ced-history.XXXXXX");
	CHECK(mkdtemp(folder) != NULL);
	cut_printf(path, sizeof(path), "%s/a/b/lines", folder);
}

static void end(void)
{
	char inner[128];

	(void)unlink(path);
	cut_printf(inner, sizeof(inner), "%s/a/b", folder);
	(void)rmdir(inner);
	cut_printf(inner, sizeof(inner), "%s/a", folder);
	(void)rmdir(inner);
	CHECK_EQ_INT(rmdir(folder), 0); /* nothing else is left */
}

static void add(struct history *history, const char *line)
{
	history_add(history, line, strlen(line));
}

TEST(lines_are_there_the_next_time)
{
	struct history history;
	struct stat about;

	begin();
	history_open(&history, path);
	CHECK_STR(history_line(&history, 1), NULL);
	add(&history, "one");
	add(&history, "two");
	add(&history, "two");
	add(&history, "  ");
	add(&history, "");
	add(&history, "a\nb");
	history_close(&history);
	CHECK_EQ_INT(stat(path, &about), 0);
	CHECK_EQ_INT(about.st_mode & 0777, 0600);
	CHECK_EQ_INT(about.st_size, strlen("one\ntwo\n"));
	history_open(&history, path);
	CHECK_STR(history_line(&history, 1), "two");
	CHECK_STR(history_line(&history, 2), "one");
	CHECK_STR(history_line(&history, 3), NULL);
	CHECK_STR(history_line(&history, 0), NULL);
	history_close(&history);
	end();
}

TEST(the_file_is_cut)
{
	struct history history;
	char line[32];

	begin();
	history_open(&history, path);
	for (int i = 0; i < HISTORY_LINES + 500; i++) {
		cut_printf(line, sizeof(line), "line %d", i);
		add(&history, line);
	}
	CHECK_STR(history_line(&history, HISTORY_LINES), "line 500");
	CHECK_STR(history_line(&history, HISTORY_LINES + 1), NULL);
	history_close(&history);
	history_open(&history, path);
	history_close(&history);
	history_open(&history, path);
	CHECK_STR(history_line(&history, HISTORY_LINES), "line 500");
	CHECK_STR(history_line(&history, HISTORY_LINES + 1), NULL);
	CHECK_STR(history_line(&history, 1), "line 1499");
	history_close(&history);
	end();
}

TEST(what_is_no_file_of_ours_is_left_alone)
{
	struct history history;
	struct stat about;

	begin();
	history_open(&history, path); /* makes the folders */
	history_close(&history);
	CHECK_EQ_INT(unlink(path), 0);
	CHECK_EQ_INT(symlink("/dev/null", path), 0);
	history_open(&history, path);
	add(&history, "one");
	CHECK_STR(history_line(&history, 1), "one");
	history_close(&history);
	CHECK_EQ_INT(lstat(path, &about), 0);
	CHECK(S_ISLNK(about.st_mode));
	CHECK_EQ_INT(unlink(path), 0);
	CHECK_EQ_INT(mkfifo(path, 0600), 0);
	history_open(&history, path);
	add(&history, "one");
	history_close(&history);
	end();
}

TEST(the_place_is_that_of_states)
{
	struct arena arena;

	arena_init(&arena, 1 << 16);
	CHECK_EQ_INT(setenv("HOME", "/home/me", 1), 0);
	CHECK_EQ_INT(setenv("XDG_STATE_HOME", "/state", 1), 0);
	CHECK_STR(history_place(&arena, "history"), "/state/ced/history");
	CHECK_EQ_INT(setenv("XDG_STATE_HOME", "relative", 1), 0);
	CHECK_STR(history_place(&arena, "history"), "/home/me/.local/state/ced/history");
	CHECK_EQ_INT(unsetenv("XDG_STATE_HOME"), 0);
	CHECK_EQ_INT(unsetenv("HOME"), 0);
	CHECK_STR(history_place(&arena, "history"), NULL);
	arena_done(&arena);
}
