#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/record/checkpoint_file.h"
#include "proto/base/fdio.h"
#include "tests/check.h"

static char folder[] = "/tmp/ced-second-XXXXXX";
static char path[64];

static void make_folder(void)
{
	(void)strcpy(folder + strlen(folder) - 6, "XXXXXX");
	(void)snprintf(path, sizeof(path), "%s/file", mkdtemp(folder) ? folder : "");
}

static void clear_up(void)
{
	(void)unlink(path);
	(void)rmdir(folder);
}

static void expect_text(const char *hoped)
{
	struct checkpoint_piece piece;
	bool same;

	CHECK_EQ_INT(checkpoint_file_read(path, 0, &piece, NULL), 0);
	same = piece.len == strlen(hoped) && memcmp(piece.text, hoped, piece.len) == 0;
	free(piece.text);
	CHECK(same);
	CHECK_EQ_INT(piece.of, strlen(hoped));
}

TEST(a_file_that_is_not_there_is_empty)
{
	make_folder();
	expect_text("");
	clear_up();
}

TEST(each_line_stands_behind_the_others)
{
	make_folder();
	CHECK_EQ_INT(checkpoint_file_append(path, "one", NULL), 0);
	CHECK_EQ_INT(checkpoint_file_append(path, "two", NULL), 0);
	expect_text("one\ntwo\n");
	clear_up();
}

TEST(a_line_that_was_torn_does_not_take_the_next_along)
{
	FILE *file;

	make_folder();
	file = fopen(path, "we");
	CHECK(file);
	(void)fputs("one\nhalf a li", file);
	(void)fclose(file);
	CHECK_EQ_INT(checkpoint_file_append(path, "two", NULL), 0);
	expect_text("one\nhalf a li\ntwo\n");
	clear_up();
}

TEST(a_line_that_is_there_is_not_written_twice)
{
	make_folder();
	CHECK_EQ_INT(checkpoint_file_ensure(path, "two", NULL), 0);
	CHECK_EQ_INT(checkpoint_file_append(path, "two more", NULL), 0);
	CHECK_EQ_INT(checkpoint_file_ensure(path, "two", NULL), 0);
	expect_text("two\ntwo more\n");
	CHECK_EQ_INT(checkpoint_file_ensure(path, "more", NULL), 0);
	CHECK_EQ_INT(checkpoint_file_ensure(path, "more", NULL), 0);
	expect_text("two\ntwo more\nmore\n");
	clear_up();
}

TEST(a_line_that_was_torn_is_not_there)
{
	FILE *file;

	make_folder();
	file = fopen(path, "we");
	CHECK(file);
	(void)fputs("one\ntwo", file);
	(void)fclose(file);
	CHECK_EQ_INT(checkpoint_file_ensure(path, "two", NULL), 0);
	expect_text("one\ntwo\ntwo\n");
	clear_up();
}

TEST(a_piece_begins_where_it_is_asked_for_and_an_end_is_the_end)
{
	struct checkpoint_piece piece;

	make_folder();
	CHECK_EQ_INT(checkpoint_file_append(path, "one", NULL), 0);
	CHECK_EQ_INT(checkpoint_file_append(path, "two", NULL), 0);
	CHECK_EQ_INT(checkpoint_file_read(path, 4, &piece, NULL), 0);
	CHECK_STR(piece.text, "two\n");
	CHECK_EQ_INT(piece.at, 4);
	CHECK_EQ_INT(piece.of, 8);
	free(piece.text);
	CHECK_EQ_INT(checkpoint_file_read(path, -1, &piece, NULL), 0);
	CHECK_STR(piece.text, "one\ntwo\n");
	free(piece.text);
	CHECK_EQ_INT(checkpoint_file_read(path, 99, &piece, NULL), 0);
	CHECK_STR(piece.text, "");
	free(piece.text);
	clear_up();
}

TEST(what_is_no_ordinary_file_is_not_written_to)
{
	struct err err = ERR_INIT;

	make_folder();
	CHECK_EQ_INT(mkfifo(path, 0600), 0);
	CHECK_EQ_INT(checkpoint_file_append(path, "one", &err), -1);
	CHECK(strstr(err.text, path) != NULL);
	CHECK_EQ_INT(unlink(path), 0);
	CHECK_EQ_INT(symlink("/tmp/elsewhere", path), 0);
	CHECK_EQ_INT(checkpoint_file_append(path, "one", &err), -1);
	clear_up();
}
