#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/outdir.h"
#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"
#include "tests/check.h"

/* A folder, and beside it a file that must stay unchanged. */
struct place {
	char root[64];
	char out[80];
	char outside[80];
	int dir;
};

static void place_make(struct place *place)
{
	struct err err = ERR_INIT;
	int fd;

	strcpy(place->root, "/tmp/ced-outdir-XXXXXX");
	if (!mkdtemp(place->root))
		abort();
	cut_printf(place->out, sizeof(place->out), "%s/out", place->root);
	cut_printf(place->outside, sizeof(place->outside), "%s/outside", place->root);
	fd = open(place->outside, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, "mine", 4) != 4)
		abort();
	close(fd);
	place->dir = outdir_open(place->out, &err);
	if (place->dir < 0)
		abort();
}

static void place_remove(struct place *place)
{
	char line[128];

	close(place->dir);
	cut_printf(line, sizeof(line), "rm -rf %s", place->root);
	if (system(line) != 0)
		abort();
}

static int put(struct place *place, const char *path, const char *text)
{
	struct err err = ERR_INIT;

	return outdir_write(place->dir, path, text, strlen(text), &err);
}

static bool holds(const char *folder, const char *name, const char *text)
{
	auto_free char *found = NULL;
	struct err err = ERR_INIT;
	char path[160];
	size_t len = 0;

	cut_printf(path, sizeof(path), "%s/%s", folder, name);
	if (read_file(path, 4096, &found, &len, &err) < 0)
		return false;
	return strcmp(found, text) == 0;
}

TEST(a_file_is_written_with_the_folders_on_its_way)
{
	struct place place;

	place_make(&place);
	CHECK_EQ_INT(put(&place, "a.txt", "one"), 0);
	CHECK_EQ_INT(put(&place, "deep/er/b.txt", "two"), 0);
	CHECK(holds(place.out, "a.txt", "one"));
	CHECK(holds(place.out, "deep/er/b.txt", "two"));
	place_remove(&place);
}

TEST(a_regular_file_is_replaced)
{
	struct place place;

	place_make(&place);
	CHECK_EQ_INT(put(&place, "a.txt", "one"), 0);
	CHECK_EQ_INT(put(&place, "a.txt", "two"), 0);
	CHECK(holds(place.out, "a.txt", "two"));
	place_remove(&place);
}

TEST(a_new_file_replaces_nothing)
{
	struct place place;
	struct err err = ERR_INIT;

	place_make(&place);
	CHECK_EQ_INT(outdir_write_new(place.dir, "deep/a.txt", "one", 3, &err), 0);
	CHECK_EQ_INT(outdir_write_new(place.dir, "deep/a.txt", "two", 3, &err), -1);
	CHECK_EQ_INT(err.code, ERR_EXISTS);
	CHECK(holds(place.out, "deep/a.txt", "one"));
	CHECK_EQ_INT(symlinkat("../outside", place.dir, "link"), 0);
	CHECK_EQ_INT(symlinkat("../new", place.dir, "nowhere"), 0);
	CHECK_EQ_INT(outdir_write_new(place.dir, "link", "theirs", 6, &err), -1);
	CHECK_EQ_INT(outdir_write_new(place.dir, "nowhere", "theirs", 6, &err), -1);
	CHECK_EQ_INT(outdir_write_new(place.dir, "../new", "theirs", 6, &err), -1);
	CHECK(holds(place.root, "outside", "mine"));
	CHECK(!holds(place.root, "new", "theirs"));
	place_remove(&place);
}

TEST(no_path_leaves_the_folder)
{
	static const char *const wrong[] = { "", "/etc/ced-test", "..", "../outside",
		"a/../../outside", "a/..", ".", "a/", "./../outside", "a/." };
	struct place place;

	place_make(&place);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK_EQ_INT(put(&place, wrong[i], "theirs"), -1);
	CHECK(holds(place.root, "outside", "mine"));
	place_remove(&place);
}

TEST(a_link_in_place_of_the_file_is_not_written_through)
{
	struct place place;

	place_make(&place);
	CHECK_EQ_INT(symlinkat("../outside", place.dir, "link"), 0);
	CHECK_EQ_INT(put(&place, "link", "theirs"), -1);
	CHECK(holds(place.root, "outside", "mine"));
	place_remove(&place);
}

TEST(a_link_in_place_of_a_folder_is_not_followed)
{
	struct place place;

	place_make(&place);
	CHECK_EQ_INT(symlinkat("..", place.dir, "up"), 0);
	CHECK_EQ_INT(put(&place, "up/outside", "theirs"), -1);
	CHECK_EQ_INT(put(&place, "up/new", "theirs"), -1);
	CHECK(holds(place.root, "outside", "mine"));
	CHECK(!holds(place.root, "new", "theirs"));
	place_remove(&place);
}

TEST(what_is_no_regular_file_is_left_alone)
{
	struct place place;

	place_make(&place);
	CHECK_EQ_INT(mkdirat(place.dir, "folder", 0755), 0);
	CHECK_EQ_INT(mkfifoat(place.dir, "fifo", 0644), 0);
	CHECK_EQ_INT(put(&place, "folder", "x"), -1);
	CHECK_EQ_INT(put(&place, "fifo", "x"), -1);
	CHECK_EQ_INT(put(&place, "fifo/x", "x"), -1);
	place_remove(&place);
}
