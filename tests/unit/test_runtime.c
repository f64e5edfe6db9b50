#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/container.h"
#include "sandbox/jail/runtime.h"
#include "tests/check.h"

static struct err err = ERR_INIT;
static struct priv_runtime asked;
static struct runtime runtime;
static struct runtime_start started;
static char harness[] = "/tmp/ced-harness.XXXXXX";
static char main_file[64];

static bool prepare(void)
{
	FILE *file;

	memset(&asked, 0, sizeof(asked));
	if (!main_file[0]) {
		if (!mkdtemp(harness) || chmod(harness, 0755) < 0)
			return false;
		(void)snprintf(main_file, sizeof(main_file), "%s/zygote.py", harness);
	}
	file = fopen(main_file, "we");
	if (!file || fclose(file) != 0)
		return false;
	asked.kind = PRIV_RUNTIME_PYTHON;
	(void)snprintf(asked.name, sizeof(asked.name), "python");
	(void)snprintf(asked.interpreter, sizeof(asked.interpreter), "/usr/bin/python3");
	(void)snprintf(asked.harness, sizeof(asked.harness), "%s", harness);
	(void)snprintf(asked.preload, sizeof(asked.preload), "json os.path");
	asked.bind_count = 2;
	(void)snprintf(asked.binds[0].path, sizeof(asked.binds[0].path), "/usr/lib");
	(void)snprintf(asked.binds[1].path, sizeof(asked.binds[1].path), "/no/such/folder");
	asked.binds[1].optional = true;
	return true;
}

static void clear(void)
{
	(void)unlink(main_file);
	(void)rmdir(harness);
	main_file[0] = '\0';
	memcpy(harness + strlen(harness) - 6, "XXXXXX", 6);
}

static bool is_taken(void)
{
	return runtime_check(&runtime, &asked, &err) == 0;
}

TEST(an_interpreter_is_started_without_links_under_its_own_name)
{
	CHECK(prepare());
	CHECK(is_taken());
	CHECK(strncmp(runtime.program, "/usr/bin/python3.", 17) == 0);
	CHECK(runtime_start(&runtime, 3, "CED_UIDS=block", &started, &err) == 0);
	CHECK_STR(started.spec.program, runtime.program);
	CHECK_STR(started.argv[0], "/usr/bin/python3");
	CHECK_STR(started.argv[1], "-I");
	CHECK_STR(started.argv[2], "-B");
	CHECK_STR(started.argv[3], "/ced/zygote.py");
	CHECK(started.argv[4] == NULL);
	clear();
}

static bool has_variable(const char *text)
{
	for (const char **variable = started.envp; *variable; variable++)
		if (strcmp(*variable, text) == 0)
			return true;
	return false;
}

TEST(the_environment_is_fixed_and_says_what_a_zygote_must_know)
{
	CHECK(prepare() && is_taken());
	CHECK(runtime_start(&runtime, 3, "CED_UIDS=one", &started, &err) == 0);
	CHECK(has_variable("CED_FD=3") && has_variable("CED_PROC_FD=4"));
	CHECK(has_variable("CED_SLOTS=3") && has_variable("CED_UIDS=one"));
	CHECK(has_variable("CED_PRELOAD=json os.path"));
	CHECK(has_variable("HOME=/work") && has_variable("TZ=UTC"));
	clear();
}

TEST(what_a_bind_must_have_and_may_lack)
{
	CHECK(prepare() && is_taken());
	asked.binds[1].optional = false;
	CHECK(!is_taken());
	CHECK(strstr(err.text, "/no/such/folder"));
	/* A path may be absent if it is optional, but an unreadable path is an error. */
	CHECK(prepare());
	(void)snprintf(asked.binds[1].path, sizeof(asked.binds[1].path), "/proc");
	CHECK(!is_taken());
	clear();
}

TEST(a_package_set_has_a_place_below_sets_and_no_other)
{
	static const char *const elsewhere[] = { "/usr/lib", "/sets", "/setsx/a", "/sets/../usr",
		"/sets/a/", "sets/a", "/work/a" };
	const struct mount_plan *plan = &started.spec.mounts;
	bool found = false;

	CHECK(prepare());
	(void)snprintf(asked.binds[0].place, sizeof(asked.binds[0].place), "/sets/data.v2");
	CHECK(is_taken());
	CHECK(runtime_start(&runtime, 3, "CED_UIDS=one", &started, &err) == 0);
	for (unsigned i = 0; i < plan->count; i++)
		found = found || (strcmp(plan->rows[i].target, "/sets/data.v2") == 0 &&
					 strcmp(plan->rows[i].source, asked.binds[0].path) == 0 &&
					 plan->rows[i].kind == MOUNT_TARGET);
	CHECK(found);
	for (size_t i = 0; i < COUNT_OF(elsewhere); i++) {
		(void)snprintf(
			asked.binds[0].place, sizeof(asked.binds[0].place), "%s", elsewhere[i]);
		CHECK(!is_taken());
	}
	asked.binds[0].place[0] = '\0';
	clear();
}

TEST(what_is_wrong_is_said)
{
	CHECK(prepare());
	asked.kind = 99;
	CHECK(!is_taken() && strstr(err.text, "99"));
	CHECK(prepare());
	asked.bind_count = PRIV_BINDS_MAX + 1;
	CHECK(!is_taken() && err.code == ERR_TOO_BIG);
	CHECK(prepare());
	(void)snprintf(asked.interpreter, sizeof(asked.interpreter), "/usr/lib/os-release");
	CHECK(!is_taken() && strstr(err.text, "interpreter"));
	CHECK(prepare() && unlink(main_file) == 0);
	CHECK(!is_taken() && strstr(err.text, "zygote.py"));
	CHECK(prepare());
	(void)snprintf(asked.preload, sizeof(asked.preload), "os;import sys");
	CHECK(!is_taken() && strstr(err.text, "preload"));
	clear();
}

TEST(a_command_is_started_by_our_own_program_under_its_interpreters_name)
{
	char zygote[96];
	FILE *file;

	CHECK(prepare());
	(void)snprintf(zygote, sizeof(zygote), "%s/ced-zygote", harness);
	file = fopen(zygote, "we");
	CHECK(file && fclose(file) == 0);
	asked.kind = PRIV_RUNTIME_COMMAND;
	(void)snprintf(asked.interpreter, sizeof(asked.interpreter), "/usr/bin/sh");
	(void)snprintf(asked.preload, sizeof(asked.preload),
		"args: -e tools: coreutils [ keep: /usr/share/perl");
	CHECK(is_taken());
	CHECK(runtime_start(&runtime, 3, "CED_UIDS=block", &started, &err) == 0);
	CHECK_STR(started.spec.program, "/ced/ced-zygote");
	CHECK_STR(started.argv[0], "/usr/bin/sh");
	CHECK(started.argv[1] == NULL);
	CHECK(unlink(zygote) == 0);
	CHECK(!is_taken() && strstr(err.text, "ced-zygote"));
	clear();
}
