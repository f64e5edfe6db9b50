#include <stdio.h>
#include <string.h>

#include "daemon/settings/config_check.h"
#include "daemon/settings/config_file.h"
#include "daemon/settings/config_packages.h"
#include "proto/base/container.h"
#include "tests/check.h"

static struct config config;

#define DIGEST "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define SET    "runtime = \"python\" path = \"/srv/ced/sets/a\" digest = \"" DIGEST "\""

/* Returns the error, or "". */
static const char *read_text(const char *text)
{
	static struct err err;

	err = (struct err)ERR_INIT;
	config_init(&config);
	if (config_parse(&config, text, &err) < 0 || config_finish(&config, &err) < 0 ||
		config_check_packages_host(&config, &err) < 0)
		return err.text;
	return "";
}

TEST(a_set_has_a_runtime_a_path_and_a_digest)
{
	CHECK_STR(
		read_text("packages data2024 { " SET " default = true users = {1000, \"root\"} }"),
		"");
	CHECK_EQ_INT(config.package_count, 1);
	CHECK_STR(config.packages[0].name, "data2024");
	CHECK_STR(config.packages[0].runtime, "python");
	CHECK_STR(config.packages[0].path, "/srv/ced/sets/a");
	CHECK_STR(config.packages[0].digest, DIGEST);
	CHECK(config.packages[0].is_default && config.packages[0].is_for_some);
	CHECK_EQ_INT(config.packages[0].users.count, 2);
	CHECK(!config.packages[0].has_tools);
}

TEST(mistakes_in_a_set_are_named)
{
	static const struct {
		const char *text, *complaint;
	} rows[] = {
		{ "packages Data { " SET " }", "packages Data: a name has up to" },
		{ "packages ../a { " SET " }", "packages ../a: a name has up to" },
		{ "packages a { path = \"/srv/a\" digest = \"" DIGEST "\" }", "has no runtime" },
		{ "packages a { runtime = \"python\" digest = \"" DIGEST "\" }", "has no path" },
		{ "packages a { runtime = \"python\" path = \"/srv/a\" }", "has no digest" },
		{ "packages a { path = \"srv\" }", "is not an absolute path" },
		{ "packages a { digest = \"sha256:ab\" }", "cectl packages digest" },
		{ "packages a { " SET " }\npackages a { " SET " }", "is on line 1 already" },
		{ "packages a { runtime = \"ruby\" path = \"/srv/a\" digest = \"" DIGEST "\" }",
			"there is no runtime \"ruby\"" },
		{ "packages a { " SET " tools = true }", "tools is for runtimes of kind" },
		{ "packages a { runtime = \"python\" path = \"/var/a\" digest = \"" DIGEST "\" }",
			"cannot be in a jail" },
		{ "packages a { runtime = \"python\" path = \"/srv/../etc\" digest = \"" DIGEST
		  "\" }",
			"cannot be in a jail" },
		{ "packages a { " SET " users = {\"no-such-user\"} }", "no-such-user" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		if (!strstr(read_text(rows[i].text), rows[i].complaint)) {
			check_failed(__FILE__, __LINE__, rows[i].text);
			check_failed(__FILE__, __LINE__, read_text(rows[i].text));
		}
}

TEST(a_runtime_has_a_bounded_number_of_sets)
{
	static char text[8192];

	text[0] = '\0';
	for (int i = 0; i <= CONFIG_SETS_MAX; i++) {
		CHECK_STR(read_text(text), "");
		cut_printf(text + strlen(text), sizeof(text) - strlen(text),
			"packages a%d { " SET " }\n", i);
	}
	CHECK(strstr(read_text(text), "python has more than 16 sets") != NULL);
}
