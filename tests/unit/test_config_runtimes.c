#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/settings/config_check.h"
#include "daemon/settings/config_file.h"
#include "daemon/settings/config_runtimes.h"
#include "proto/base/fdio.h"
#include "tests/check.h"

static struct config config;

/* The runtime that results from adding this text to python. */
static const struct config_runtime *second(const char *text)
{
	static const struct config_runtime none;
	struct err err = ERR_INIT;

	config_init(&config);
	if (config_parse(&config, text, &err) < 0 || config_finish(&config, &err) < 0 ||
		config.runtime_count != 2) {
		printf("# %s\n", err.text);
		return &none;
	}
	return &config.runtimes[1];
}

static void check_refused(const char *text, const char *why)
{
	struct err err = ERR_INIT;

	config_init(&config);
	CHECK_EQ_INT(config_parse(&config, text, &err), 0);
	CHECK(config_finish(&config, &err) < 0);
	CHECK_STR(err.text, why);
}

TEST(python_is_there_by_itself_and_starts_no_processes)
{
	config_init(&config);
	CHECK_EQ_INT(config.runtime_count, 1);
	CHECK_STR(config.runtimes[0].name, "python");
	CHECK(!config.runtimes[0].processes);
	CHECK(!strstr(config.runtimes[0].preload, "numpy"));
}

TEST(an_empty_section_of_a_name_that_is_known_is_enough)
{
	const struct config_runtime *data = second("runtime python-data { }");

	CHECK_STR(data->language, "python");
	CHECK_STR(data->interpreter, "/usr/bin/python3");
	CHECK(strstr(data->preload, "numpy") && strstr(data->preload, "matplotlib.pyplot"));
	CHECK(!data->processes);
	CHECK(second("runtime python-mp { }")->processes);
}

TEST(what_a_section_names_takes_the_place_of_what_is_known)
{
	const struct config_runtime *data = second("runtime python-data {\n"
						   "interpreter = \"/opt/p/bin/python3\"\n"
						   "preload = {\"numpy\"}\n"
						   "processes = true }");

	CHECK_STR(data->interpreter, "/opt/p/bin/python3");
	CHECK_STR(data->preload, "numpy");
	CHECK(data->processes);
}

TEST(folders_of_a_section_come_to_those_that_are_known)
{
	unsigned known = second("runtime python-data { }")->bind_count;
	const struct config_runtime *data = second("runtime python-data { binds = {\"/srv\"} }");

	CHECK_EQ_INT(data->bind_count, known + 1);
	CHECK_STR(data->binds[known], "/srv");
}

TEST(programs_are_called_main_py_whatever_the_runtime_is_called)
{
	CHECK_STR(
		second("runtime science { interpreter = \"/usr/bin/python3\" }")->file, "main.py");
	CHECK_STR(second("runtime python-mp { file = \"job.py\" }")->file, "job.py");
}

TEST(a_venv_is_bound_with_its_interpreter)
{
	char folder[] = "/var/tmp/ced-venv.XXXXXX";
	char text[256];
	const struct config_runtime *venv;

	CHECK(mkdtemp(folder) != NULL);
	cut_printf(text, sizeof(text), "runtime venv { interpreter = \"%s/bin/python\" }", folder);
	CHECK_STR(second(text)->language, "");
	CHECK_EQ_INT(config.runtimes[1].bind_count, 0);
	cut_printf(text, sizeof(text), "%s/pyvenv.cfg", folder);
	CHECK_EQ_INT(fclose(fopen(text, "w")), 0);
	cut_printf(text, sizeof(text), "runtime venv { interpreter = \"%s/bin/python\" }", folder);
	venv = second(text);
	CHECK_EQ_INT(venv->bind_count, 1);
	CHECK_STR(venv->binds[0], folder);
	cut_printf(text, sizeof(text), "%s/pyvenv.cfg", folder);
	CHECK_EQ_INT(unlink(text), 0);
	CHECK_EQ_INT(rmdir(folder), 0);
}

TEST(processes_are_for_python)
{
	check_refused(
		"runtime sh { kind = \"command\" interpreter = \"/bin/sh\" processes = true }",
		"line 1: runtime sh: processes is for kind = \"python\": remove it, or set kind");
}

TEST(what_lies_where_programs_have_their_own_folders_is_refused)
{
	check_refused("runtime venv { interpreter = \"/tmp/venv/bin/python\" }",
		"line 1: runtime venv: interpreter: /tmp/venv/bin/python cannot be used in a jail, where programs have a folder of their own in this place: move it elsewhere");
	check_refused("runtime python { binds = {\"/work/data\"} }",
		"line 1: runtime python: binds: /work/data cannot be used in a jail, where programs have a folder of their own in this place: move it elsewhere");
	CHECK_STR(
		second("runtime data { interpreter = \"/usr/bin/python3\" binds = {\"/tmpdata\"} }")
			->binds[0],
		"/tmpdata");
}
