#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/container.h"
#include "proto/names.h"
#include "proto/package_digest.h"
#include "tests/check.h"

/* A folder of its own for each test, with one module in it. */
static char root[64];

static const char *at(const char *name)
{
	static char path[512];

	cut_printf(path, sizeof(path), "%s/%s", root, name);
	return path;
}

static void write_at(const char *name, const char *text)
{
	FILE *file = fopen(at(name), "we");

	CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
	CHECK(chmod(at(name), 0644) == 0);
}

static void begin(void)
{
	cut_printf(root, sizeof(root), "/tmp/ced-set.XXXXXX");
	CHECK(mkdtemp(root) != NULL);
	CHECK(chmod(root, 0755) == 0);
	CHECK(mkdir(at("greet"), 0755) == 0 && chmod(at("greet"), 0755) == 0);
	write_at("greet/__init__.py", "x = 1\n");
}

static void end(void)
{
	char command[128];

	cut_printf(command, sizeof(command), "chmod -R u+rwX %s; rm -rf %s", root, root);
	CHECK(system(command) == 0); /* NOLINT(cert-env33-c): a path of our own */
}

static struct package_scan scan;

/* The digest, or the reason why there is none. */
static const char *read_set(void)
{
	static char text[ERR_TEXT_MAX];
	char digest[DIGEST_TEXT_LEN + 1];
	struct err err = ERR_INIT;

	scan = (struct package_scan)PACKAGE_SCAN_USUAL;
	cut_printf(text, sizeof(text), "%s",
		package_digest(root, &scan, digest, &err) == 0 ? digest : err.text);
	return text;
}

static bool changes_digest(const char *before)
{
	const char *now = read_set();

	return strncmp(now, "sha256:", 7) == 0 && strcmp(now, before) != 0;
}

TEST(the_digest_is_that_of_names_modes_sizes_and_contents)
{
	char first[ERR_TEXT_MAX];

	begin();
	cut_printf(first, sizeof(first), "%s", read_set());
	/* Computed by another program: tests/scenario/350-packages.t does the same in Python. */
	CHECK_STR(first, "sha256:e0d8dd6374863863c57e61b356799a9e94449d18312e6101a1084e09509eba21");
	CHECK_EQ_INT(scan.entries, 2);
	CHECK_EQ_INT(scan.bytes, 6);
	CHECK_STR(read_set(), first);
	write_at("greet/__init__.py", "x = 2\n");
	CHECK(changes_digest(first));
	write_at("greet/__init__.py", "x = 1\n");
	CHECK_STR(read_set(), first);
	CHECK(chmod(at("greet/__init__.py"), 0755) == 0);
	CHECK(changes_digest(first));
	CHECK(chmod(at("greet/__init__.py"), 0644) == 0);
	write_at("more.py", "");
	CHECK(changes_digest(first));
	end();
}

TEST(a_set_with_a_link_that_stays_inside_is_one)
{
	begin();
	CHECK(symlink("greet/__init__.py", at("again.py")) == 0);
	CHECK(strncmp(read_set(), "sha256:", 7) == 0);
	CHECK(symlink("nowhere", at("dangling")) == 0);
	CHECK(strncmp(read_set(), "sha256:", 7) == 0);
	end();
}

TEST(links_that_lead_out_are_refused)
{
	static const char *const targets[] = { "/etc/passwd", "../../etc/passwd", "..",
		"greet/../../x", "/" };

	begin();
	for (size_t i = 0; i < COUNT_OF(targets); i++) {
		CHECK(symlink(targets[i], at("link")) == 0);
		CHECK_STR(read_set(), "link: is a link that leads out of the folder");
		CHECK(unlink(at("link")) == 0);
	}
	/* By names alone this one stays inside. */
	CHECK(symlink("..", at("greet/up")) == 0);
	CHECK(symlink("greet/up/..", at("link")) == 0);
	CHECK_STR(read_set(), "link: is a link that leads out of the folder");
	end();
}

TEST(setuid_files_fifos_and_closed_files_are_refused)
{
	begin();
	write_at("tool", "#!/bin/sh\n");
	CHECK(chmod(at("tool"), 04755) == 0);
	CHECK_STR(read_set(), "tool: has the setuid or setgid bit: chmod ug-s");
	CHECK(chmod(at("tool"), 0000) == 0);
	CHECK_STR(read_set(), "tool: is not readable for all: chmod -R a+rX");
	CHECK(unlink(at("tool")) == 0);
	CHECK(mkfifo(at("fifo"), 0644) == 0);
	CHECK_STR(read_set(), "fifo: is neither file nor folder nor link");
	CHECK(unlink(at("fifo")) == 0);
	CHECK(mkdir(at("closed"), 0700) == 0);
	CHECK_STR(read_set(), "closed: is not readable for all: chmod -R a+rX");
	end();
}

TEST(a_name_that_is_no_text_is_shown_as_one)
{
	begin();
	CHECK(mkfifo(at("a\033[2J\xff"), 0644) == 0);
	CHECK_STR(read_set(), "a?[2J?: is neither file nor folder nor link");
	end();
}

static int stop_at_once(const struct package_scan *progress)
{
	(void)progress;
	return 1;
}

TEST(the_work_is_bounded_and_can_be_stopped)
{
	char digest[DIGEST_TEXT_LEN + 1];
	struct err err = ERR_INIT;
	char name[16];

	begin();
	for (int i = 0; i < 20; i++) {
		cut_printf(name, sizeof(name), "m%d.py", i);
		write_at(name, "");
	}
	scan = (struct package_scan)PACKAGE_SCAN_USUAL;
	scan.entries_most = 21;
	CHECK_EQ_INT(package_digest(root, &scan, digest, &err), -1);
	CHECK_STR(err.text, "has more than 21 files and folders");
	scan.entries_most = 22;
	CHECK_EQ_INT(package_digest(root, &scan, digest, &err), 0);
	scan.bytes_most = 5;
	CHECK_EQ_INT(package_digest(root, &scan, digest, &err), -1);
	CHECK_STR(err.text, "has more than 5 bytes");
	scan = (struct package_scan)PACKAGE_SCAN_USUAL;
	scan.on_progress = stop_at_once;
	CHECK_EQ_INT(package_digest(root, &scan, digest, &err), -1);
	CHECK_EQ_INT(err.code, ERR_CLOSED);
	end();
}

TEST(folders_may_not_be_deeper_than_a_ceiling)
{
	char path[512] = "";

	begin();
	for (int depth = 0; depth <= PACKAGE_DEPTH_MAX; depth++) {
		cut_printf(
			path + strlen(path), sizeof(path) - strlen(path), "%sd", depth ? "/" : "");
		CHECK(mkdir(at(path), 0755) == 0);
	}
	CHECK(strstr(read_set(), "is too deep") != NULL);
	end();
}

TEST(what_is_no_folder_is_no_set)
{
	char digest[DIGEST_TEXT_LEN + 1];
	struct err err = ERR_INIT;

	scan = (struct package_scan)PACKAGE_SCAN_USUAL;
	CHECK_EQ_INT(package_digest("/nowhere", &scan, digest, &err), -1);
	CHECK_EQ_INT(err.sys_errno, ENOENT);
	CHECK_EQ_INT(package_digest("/etc/passwd", &scan, digest, &err), -1);
	CHECK_EQ_INT(err.sys_errno, ENOTDIR);
}

TEST(names_of_sets_are_plain)
{
	static const char *const good[] = { "data2024", "a", "0", "a.b_c-d", "a..b" };
	static const char *const bad[] = { "", ".", "..", "../x", "a/b", "A", "-x", ".x", "_x",
		"a b", "a\n", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" };

	for (size_t i = 0; i < COUNT_OF(good); i++)
		CHECK(name_is_package(good[i]));
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		CHECK(!name_is_package(bad[i]));
}
