#include <stdio.h>
#include <string.h>

#include "cli/doctor/settings.h"
#include "tests/check.h"

static struct settings settings;

TEST(without_a_word_the_defaults_are_those_of_the_daemon)
{
	settings_init(&settings);
	CHECK_STR(settings.required, " memory pids cpu ");
	CHECK_EQ_INT(settings.runtime_count, 1);
	CHECK_STR(settings.runtimes[0].name, "python");
	CHECK_STR(settings.runtimes[0].interpreter, "/usr/bin/python3");
	CHECK(settings.workers_min > 0 && settings.workers_min <= settings.workers_max);
}

TEST(what_is_in_force_takes_the_place_of_defaults)
{
	settings_init(&settings);
	settings_take(&settings, "require.memory=no\n");
	settings_take(&settings, "require.cpu=no\n");
	settings_take(&settings, "require.landlock=yes\n");
	settings_take(&settings, "workers_min=3\n");
	settings_take(&settings, "workers_max=9\n");
	settings_take(&settings, "runtime.python.interpreter=/opt/a=b/python3\n");
	settings_take(&settings, "runtime.bash.interpreter=/bin/bash\n");
	CHECK(!settings_require(&settings, "memory"));
	CHECK(settings_require(&settings, "pids"));
	CHECK(!settings_require(&settings, "cpu"));
	CHECK(settings_require(&settings, "landlock"));
	CHECK(!settings_require(&settings, "land"));
	settings_take(&settings, "require.pids=no\n");
	settings_take(&settings, "require.landlock=no\n");
	settings_take(&settings, "require.landlock=no\n");
	settings_take(&settings, "require.cpu=yes\n");
	CHECK_STR(settings.required, " cpu ");
	CHECK_EQ_INT(settings.workers_min, 3);
	CHECK_EQ_INT(settings.workers_max, 9);
	CHECK_EQ_INT(settings.runtime_count, 2);
	CHECK_STR(settings.runtimes[0].interpreter, "/opt/a=b/python3");
	CHECK_STR(settings.runtimes[1].name, "bash");
}

TEST(lines_that_are_not_known_or_make_no_sense_are_passed_over)
{
	static struct settings before;

	settings_init(&settings);
	before = settings;
	settings_take(&settings, "");
	settings_take(&settings, "\n");
	settings_take(&settings, "=\n");
	settings_take(&settings, "queue_max=12\n");
	settings_take(&settings, "runtime.python.color=green\n");
	settings_take(&settings, "no equals sign\n");
	CHECK(memcmp(&before, &settings, sizeof(before)) == 0);
}

TEST(more_runtimes_than_there_is_room_for_are_left_out)
{
	char line[80];

	settings_init(&settings);
	for (int i = 0; i < 40; i++) {
		(void)snprintf(line, sizeof(line), "runtime.n%d.interpreter=/bin/true\n", i);
		settings_take(&settings, line);
	}
	CHECK_EQ_INT(settings.runtime_count, SETTINGS_RUNTIMES_MAX);
}

TEST(a_file_that_is_not_there_is_told_and_the_defaults_stay)
{
	settings_read(&settings, "/nowhere/ced.conf");
	CHECK_STR(settings.config, "/nowhere/ced.conf");
	CHECK(settings.libexec[0] == '\0' || settings.trouble[0] != '\0');
	CHECK_STR(settings.runtimes[0].name, "python");
}

TEST(a_package_set_has_a_name_a_digest_and_a_path)
{
	settings_init(&settings);
	settings_take(&settings, "packages.data.v2=sha256:ab python /srv/my sets/data\n");
	settings_take(&settings, "packages.cut=sha256:ab\n");
	CHECK_EQ_INT(settings.package_count, 1);
	CHECK_STR(settings.packages[0].name, "data.v2");
	CHECK_STR(settings.packages[0].digest, "sha256:ab");
	CHECK_STR(settings.packages[0].path, "/srv/my sets/data");
}
