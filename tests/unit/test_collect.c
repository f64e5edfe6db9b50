#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "proto/base/fdio.h"
#include "proto/internal/slotmsg.h"
#include "sandbox/zygote/collect.h"
#include "tests/check.h"
#include "tests/unit/jailing.h"

TEST(a_star_alone_matches_everything)
{
	CHECK(collect_matches("*", "a") && collect_matches("*", "a/b/c"));
	CHECK(collect_matches("**", "a") && collect_matches("**", "a/b/c"));
}

TEST(a_wildcard_does_not_match_a_slash)
{
	CHECK(collect_matches("*.txt", "a.txt") && !collect_matches("*.txt", "d/a.txt"));
	CHECK(collect_matches("d/*", "d/a") && !collect_matches("d/*", "d/e/a"));
	CHECK(collect_matches("?.txt", "a.txt") && !collect_matches("a?b", "a/b"));
	CHECK(collect_matches("[ab].txt", "b.txt") && !collect_matches("[ab].txt", "c.txt"));
}

TEST(two_stars_match_any_folders)
{
	CHECK(collect_matches("**/a.txt", "a.txt") && collect_matches("**/a.txt", "d/e/a.txt"));
	CHECK(!collect_matches("**/a.txt", "d/ba.txt"));
	CHECK(collect_matches("d/**", "d/a") && collect_matches("d/**", "d/e/f/a"));
	CHECK(!collect_matches("d/**", "d") && !collect_matches("d/**", "dd/a"));
	CHECK(collect_matches("**/**/a", "a") && collect_matches("**/**/a", "x/y/z/a"));
	CHECK(collect_matches("**/d/*.txt", "x/y/d/a.txt") &&
		collect_matches("**/d/*.txt", "d/a.txt"));
	CHECK(!collect_matches("**/d/*.txt", "a.txt") &&
		!collect_matches("**/d/*.txt", "d/e/a.txt"));
	CHECK(collect_matches("**/d/**", "x/d/e/a") && !collect_matches("**/d/**", "x/d"));
	CHECK(collect_matches("**/*", "x/y/a") && collect_matches("**/**", "a"));
}

TEST(a_pattern_that_makes_no_sense_matches_nothing)
{
	CHECK(!collect_matches("", "a") && !collect_matches("[", "a"));
	CHECK(!collect_matches("../a", "a") && !collect_matches("/a", "a"));
}

/* ---- with real files ----------------------------------------------------------------------- */

struct scene {
	char path[64];
	int pipe[2];
	struct collect_job job;
};

static int make_scene(struct scene *scene, const char *globs, size_t globs_len)
{
	char path[96];

	(void)snprintf(scene->path, sizeof(scene->path), "/tmp/ced-collect.XXXXXX");
	WANT(mkdtemp(scene->path));
	(void)snprintf(path, sizeof(path), "%s/work", scene->path);
	WANT(mkdir(path, 0700) == 0);
	WANT(pipe(scene->pipe) == 0);
	scene->job.files = open(scene->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	scene->job.globs = memfd_create("globs", MFD_CLOEXEC);
	scene->job.pipe = scene->pipe[1];
	scene->job.count_most = 10;
	scene->job.bytes_most = 1000;
	WANT(write(scene->job.globs, globs, globs_len) == (ssize_t)globs_len);
	WANT(chdir(path) == 0);
	return 0;
}

static int end_scene(const struct scene *scene, int result)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "rm -rf %s", scene->path);
	(void)!system(command);
	return result;
}

static int put_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	int result = write_all(fd, text, strlen(text), NULL);

	close(fd);
	return result;
}

/* Reads one entry and discards its data. */
static int expect(const struct scene *scene, enum artifact_reason reason, const char *path)
{
	struct artifact_head head;
	char text[512] = "";
	char data[1000];

	WANT(read_all(scene->pipe[0], &head, sizeof(head), NULL) == 0);
	WANT(head.magic == SLOTMSG_MAGIC && head.path_len < sizeof(text));
	WANT(read_all(scene->pipe[0], text, head.path_len, NULL) == 0);
	if (head.reason != (uint32_t)reason || strcmp(text, path) != 0)
		printf("# %s with reason %u instead of %s\n", text, head.reason, path);
	WANT(head.reason == (uint32_t)reason && strcmp(text, path) == 0);
	WANT(read_all(scene->pipe[0], data, head.data_len, NULL) == 0);
	return 0;
}

static int kinds(void *context)
{
	struct scene scene;
	struct err err = ERR_INIT;

	(void)context;
	WANT(make_scene(&scene, "*", 2) == 0);
	WANT(put_file("a", "text") == 0 && mkdir("d", 0700) == 0 && put_file("d/b", "") == 0);
	WANT(symlink("/etc/passwd", "link") == 0 && mkfifo("fifo", 0600) == 0);
	WANT(link("a", "twin") == 0 && put_file("z\xff", "bad") == 0);
	WANT(collect_run(&scene.job, &err) == 0);
	close(scene.pipe[1]);
	WANT(expect(&scene, ARTIFACT_HARD_LINK, "a") == 0);
	WANT(expect(&scene, ARTIFACT_TAKEN, "d/b") == 0);
	WANT(expect(&scene, ARTIFACT_NOT_REGULAR, "fifo") == 0);
	WANT(expect(&scene, ARTIFACT_NOT_REGULAR, "link") == 0);
	WANT(expect(&scene, ARTIFACT_HARD_LINK, "twin") == 0);
	WANT(expect(&scene, ARTIFACT_BAD_NAME, "z\xff") == 0);
	return end_scene(&scene, 0);
}

TEST(only_regular_files_with_one_name_are_taken)
{
	if (is_emulated())
		SKIP("openat2 is not emulated");
	CHECK_EQ_INT(in_child(kinds, NULL), 0);
}

static int ceilings(void *context)
{
	struct scene scene;
	struct err err = ERR_INIT;

	(void)context;
	WANT(make_scene(&scene, "[abcd]\0e", 9) == 0);
	scene.job.count_most = 2;
	scene.job.bytes_most = 8;
	WANT(put_file("a", "12345") == 0 && put_file("b", "12345") == 0);
	WANT(put_file("c", "123") == 0 && put_file("d", "") == 0 && put_file("x", "") == 0);
	WANT(truncate("x", (off_t)1 << 40) == 0);
	WANT(collect_run(&scene.job, &err) == 0);
	close(scene.pipe[1]);
	WANT(expect(&scene, ARTIFACT_TAKEN, "a") == 0);
	WANT(expect(&scene, ARTIFACT_TOO_LARGE, "b") == 0);
	WANT(expect(&scene, ARTIFACT_TAKEN, "c") == 0);
	WANT(expect(&scene, ARTIFACT_TOO_MANY, "") == 0);
	return end_scene(&scene, 0);
}

TEST(bytes_and_files_have_ceilings)
{
	if (is_emulated())
		SKIP("openat2 is not emulated");
	CHECK_EQ_INT(in_child(ceilings, NULL), 0);
}

static int too_many_globs(void *context)
{
	struct scene scene;
	struct err err = ERR_INIT;

	(void)context;
	WANT(make_scene(&scene, "*", 2) == 0);
	WANT(ftruncate(scene.job.globs, COLLECT_GLOBS_MAX + 1) == 0);
	WANT(collect_run(&scene.job, &err) < 0 && err.code == ERR_TOO_BIG);
	return end_scene(&scene, 0);
}

TEST(patterns_have_a_ceiling)
{
	CHECK_EQ_INT(in_child(too_many_globs, NULL), 0);
}
