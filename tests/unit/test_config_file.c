#include <stdlib.h>
#include <string.h>

#include "daemon/settings/config_check.h"
#include "daemon/settings/config_file.h"
#include "daemon/settings/config_runtimes.h"
#include "proto/base/container.h"
#include "tests/check.h"

static struct config config;

static int parse(const char *text, struct err *err)
{
	config_init(&config);
	return config_parse(&config, text, err) < 0 ? -1 : config_finish(&config, err);
}

static void expect_refused(const char *text, const char *word)
{
	struct err err = ERR_INIT;

	CHECK_EQ_INT(parse(text, &err), -1);
	CHECK(strstr(err.text, word));
}

TEST(an_empty_file_gives_the_defaults_of_a_careful_host)
{
	struct err err = ERR_INIT;

	CHECK_EQ_INT(parse("", &err), 0);
	CHECK_EQ_INT(config.limits.wall_ms, 5000);
	CHECK_EQ_INT(config.limits.memory_bytes, 256 << 20);
	CHECK_EQ_INT(config.limits.stdout_bytes, 1 << 20);
	CHECK_EQ_INT(config.limits.stderr_bytes, 256 << 10);
	CHECK_EQ_INT(config.limits.pids, 64);
	CHECK_EQ_INT(config.runtime_count, 1);
	CHECK_STR(config.runtimes[0].name, "python");
	CHECK_STR(config.cgroups, "required");
	CHECK(config.workers_min >= 1 && config.workers_min <= config.workers_max);
}

TEST(sizes_times_lists_and_sections_are_read)
{
	struct err err = ERR_INIT;

	CHECK_EQ_INT(parse("queue_max = 7\n"
			   "queue_ms = 2s\n"
			   "limits { memory_bytes = 128mb wall_ms = 1500ms }\n"
			   "most { wall_ms = 1min }\n"
			   "admins = {1000, 1001}\n"
			   "admin_groups = {\"root\"}\n"
			   "approvers = {root}\n"
			   "runtime python { preload = {\"json\", \"os.path\"} }\n"
			   "runtime other { interpreter = \"/opt/py/bin/python3\" }\n",
			     &err),
		0);
	CHECK_EQ_INT(config.queue_max, 7);
	CHECK_EQ_INT(config.queue_ms, 2000);
	CHECK_EQ_INT(config.limits.memory_bytes, 128 << 20);
	CHECK_EQ_INT(config.limits.wall_ms, 1500);
	CHECK_EQ_INT(config.most.wall_ms, 60000);
	CHECK_EQ_INT(config.roles.users[ROLE_ADMIN].count, 2);
	CHECK_EQ_INT(config.roles.users[ROLE_ADMIN].ids[1], 1001);
	CHECK_EQ_INT(config.roles.groups[ROLE_ADMIN].count, 1);
	CHECK_EQ_INT(config.roles.groups[ROLE_ADMIN].ids[0], 0);
	CHECK_EQ_INT(config.roles.users[ROLE_APPROVER].ids[0], 0);
	CHECK_STR(config.runtimes[0].preload, "json os.path");
	CHECK_STR(config.runtimes[0].interpreter, "/usr/bin/python3");
	CHECK_EQ_INT(config.runtime_count, 2);
	CHECK_STR(config.runtimes[1].interpreter, "/opt/py/bin/python3");
}

TEST(a_setting_outside_its_range_is_refused_by_name)
{
	expect_refused("queue_max = 0\n", "queue_max = 0 is outside 1 to 100000");
	expect_refused("limits { pids = 99999999 }\n", "pids");
}

/* Mistakes of an administrator, each with its whole error message. */
static const struct {
	const char *text, *message;
} broken[] = {
	/* syntax */
	{ "# one\n# two\n\nqueue_max = 0\n",
		"line 4: queue_max = 0 is outside 1 to 100000 (runs waiting for a worker, of all callers)" },
	{ "/* one\n two */ // three\n  # four\nquue_max = 4 # five\n",
		"line 4: there is no setting quue_max here; did you mean queue_max?" },
	{ "\n\nlimits {\n  wall_ms = 1s\n\n",
		"line 6: the section limits, begun on line 3, has no end: write } where it ends" },
	{ "runtime bash {\n tools = {\"sed\"\n}\nqueue_max = 4\n",
		"line 5: the section runtime bash, begun on line 1, has no end: write } where it ends" },
	{ "admins = {1000\nqueue_max = 4\n",
		"line 2: a comma is missing before \"queue_max\" in the list admins, or } after its last value" },
	{ "admins = {1000,\n",
		"line 2: the list admins, begun on line 1, has no end: write admins = {a, b}" },
	{ "queue_max = 4\n}\n",
		"line 2: this } ends no section: remove it, or look for a section that ends too early" },
	{ "state = \"/var/lib/ced\nqueue_max = 4\n",
		"line 1: this text has no end: write \" after it, on the same line" },
	{ "/* all of it\nqueue_max = 4\n",
		"line 1: this comment has no end: write */ where it ends" },
	{ "queue_max\n",
		"line 1: \"queue_max\" is neither a setting nor a section: write queue_max = VALUE or queue_max { ... }" },
	{ "queue_max =\nqueue_ms = 4s\n",
		"line 1: queue_max has no value: write it after =, on the same line" },
	{ "queue_max = 4;\n",
		"line 1: \";\" has no meaning here: remove it, or write the text in quotes" },
	{ "= 4\n", "line 1: the name of a setting or section is missing" },
	{ "admins = {1000, , 1001}\n",
		"line 1: a value is missing before this comma in the list admins" },
	{ "limits = { wall_ms = 1s }\n",
		"line 1: limits = { ... } is a list: write limits { ... }, without =, for a section" },
	{ "queue_ms = 5 s\n",
		"line 1: \"s\" behind queue_ms = 5: a unit follows its number without a space, as in 5s or 5mb" },
	{ "keep_days = 90 days\n",
		"line 1: \"days\" behind keep_days = 90: leave it out, write a unit such as s or mb without a space, or a list as {a, b}" },
	{ "socket = /tmp/a b\n",
		"line 1: \"b\" behind socket = /tmp/a: put a value with spaces in double quotes, and a list in braces: {a, b}" },
	{ "limits.wall_ms = 5s\n",
		"line 1: limits.wall_ms: a setting of a section stands in braces: write limits { wall_ms = ... }" },
	{ "limits. = 5s\n", "line 1: there is no setting limits. here; did you mean limits?" },
	{ "limits { wall_ms = 5s, cpu_ms = 5s }\n",
		"line 1: settings are not separated by commas: remove this one" },
	{ "queue_max: 5\n",
		"line 1: \"queue_max:\" is neither a setting nor a section: write queue_max = VALUE or queue_max { ... }" },
	{ "[limits]\n",
		"line 1: \"[limits]\" is neither a setting nor a section: write limits = VALUE or limits { ... }" },
	{ "\nusers = [\"ann\"]\n",
		"line 2: a list is in braces, not in brackets: write users = {a, b}" },
	/* names and types */
	{ "wall_ms = 5s\n",
		"line 1: wall_ms must be in a section: limits { wall_ms = ... } sets the limit of a run that asks for none, most { wall_ms = ... } the highest that a run may ask for" },
	{ "runtime ../x { interpreter = \"/x\" }\n",
		"line 1: runtime ../x: its name may only have up to 31 small letters, digits and -" },
	{ "limits { wall = 4s }\n",
		"line 1: there is no setting wall here; did you mean wall_ms?" },
	{ "banana = 4\n",
		"line 1: there is no setting banana here; `ced --settings` lists them all" },
	{ "limit { }\n", "line 1: there is no section limit here; did you mean limits?" },
	{ "pids = 4\n",
		"line 1: pids must be in a section: limits { pids = ... } sets the limit of a run that asks for none, most { pids = ... } the highest that a run may ask for" },
	{ "limits {\n queue_max = 4\n}\n",
		"line 2: queue_max does not belong in this section: write it outside all sections" },
	{ "queue_max = 4\nqueue_ms = 4s\nqueue_max = 5\n",
		"line 3: queue_max is on line 1 already: remove one of them" },
	{ "limits { pids = 4 }\nlimits { wall_ms = 1s }\n",
		"line 2: limits is on line 1 already: remove one of them" },
	{ "runtime bash { }\nruntime python { }\nruntime bash { }\n",
		"line 3: runtime bash is on line 1 already: remove one of them" },
	{ "runtime { }\n", "line 1: runtime has no name: write runtime NAME { ... }" },
	{ "limits all { }\n", "line 1: limits takes no name: write limits { ... }" },
	{ "admins = 1000\n", "line 1: write admins as admins = {VALUE, VALUE}" },
	{ "queue_max = {4}\n",
		"line 1: write queue_max as queue_max = NUMBER; it is a number without a unit" },
	{ "limits = 4\n", "line 1: write limits as limits { ... }" },
	{ "runtime python { off = maybe }\n", "line 1: off = maybe: write true or false" },
	/* numbers */
	{ "queue_ms = 4mb\n",
		"line 1: queue_ms = 4mb is invalid: write a time, such as 500ms, 10s, 5min, 1h or 2d" },
	{ "cache_s = 1500ms\n",
		"line 1: cache_s = 1500ms is invalid: write a time in whole seconds, such as 10s, 5min, 1h or 2d" },
	{ "keep_days = 12h\n",
		"line 1: keep_days = 12h is invalid: write whole days, such as 90 or 90d" },
	{ "queue_max = 4kb\n",
		"line 1: queue_max = 4kb is invalid: write a number without a unit" },
	{ "message_bytes = 512mb\n",
		"line 1: message_bytes = 512mb is outside 4kb to 256mb (largest message a client may send)" },
	{ "queue_max = -3\n",
		"line 1: queue_max = -3 is outside 1 to 100000 (runs waiting for a worker, of all callers)" },
	{ "limits { wall_ms = 5 }\n",
		"line 1: wall_ms = 5 is outside 10ms to 1h (time from start to end)" },
	{ "\nmessage_bytes = 100mb\n",
		"line 2: held_bytes_per_uid = 256mb is less than four times message_bytes = 100mb: raise it to 400mb, or lower message_bytes" },
	/* conflicts between settings, found after everything is read */
	{ "# who\n\nworkers_max = 3\nworkers_min = 9\n",
		"line 4: workers_min = 9 is above workers_max = 3: lower it, or raise workers_max" },
	{ "\nlimits {\n\n wall_ms = 2min\n}\n",
		"line 4: limits.wall_ms = 2min is above most.wall_ms = 1min: lower it, or raise most.wall_ms" },
	{ "\ncgroups = \"maybe\"\n",
		"line 2: cgroups = \"maybe\": write \"required\" or \"auto\"" },
	{ "\nsocket_mode = rw\n",
		"line 2: socket_mode = \"rw\": write permission bits such as \"0660\"" },
	{ "\nruntime python {\n tools = {\"ls\"} }\n",
		"line 3: runtime python: tools is for kind = \"command\": remove it, or set kind" },
	{ "\nruntime ruby { }\n",
		"line 2: runtime ruby has no interpreter: write interpreter = \"/usr/bin/...\" into it" },
	{ "runtime ruby { interpreter = ruby }\n",
		"line 1: interpreter = \"ruby\" is not an absolute path: begin it with /" },
	{ "runtime x { interpreter = \"/x\"\nkind = \"commandx\" }\n",
		"line 2: kind = \"commandx\": write \"python\", \"command\" or \"node\"; did you mean command?" },
	{ "require = {\"uids\",\n \"landlok\"}\n",
		"line 2: require: there is no layer \"landlok\"; did you mean landlock? (there are memory, pids, cpu, cgroup_kill, landlock, uids)" },
	{ "alert x { outcome = {\"denied_policy\",\n \"policy_deny\"} }",
		"line 1: outcome: there is no outcome \"denied_policy\"; docs/PROTOCOL.md lists them" },
	{ "admins = {\n 0,\n nobody-of-that-name}\n",
		"line 3: admins: there is no user \"nobody-of-that-name\" on this host: add it, or correct the name" },
};

TEST(each_mistake_is_told_with_its_line_and_what_to_write)
{
	for (size_t i = 0; i < COUNT_OF(broken); i++) {
		struct err err = ERR_INIT;

		CHECK_EQ_INT(parse(broken[i].text, &err), -1);
		CHECK_STR(err.text, broken[i].message);
	}
}

TEST(a_mistake_in_a_long_file_is_told_with_its_own_line)
{
	static char text[64 << 10];
	struct err err = ERR_INIT;
	size_t len = 0;

	for (unsigned line = 1; line < 2000; line++) {
		cut_printf(text + len, sizeof(text) - len, "# %u\n", line);
		len += strlen(text + len);
	}
	cut_printf(text + len, sizeof(text) - len, "queue_max = none\n");
	CHECK_EQ_INT(parse(text, &err), -1);
	CHECK(!strncmp(err.text, "line 2000: ", 11));
}

TEST(times_are_read_in_every_unit_whatever_the_setting_counts_in)
{
	struct err err = ERR_INIT;

	CHECK_EQ_INT(parse("cache_s = 1h keep_days = 90d zygote_age_s = 2min blob_s = 10\n"
			   "budget_window_ms = 1d message_bytes = 8M held_bytes = 1GB\n",
			     &err),
		0);
	CHECK_EQ_INT(config.cache_s, 3600);
	CHECK_EQ_INT(config.keep_days, 90);
	CHECK_EQ_INT(config.zygote_age_s, 120);
	CHECK_EQ_INT(config.blob_s, 10);
	CHECK_EQ_INT(config.budget_window_ms, 86400000);
	CHECK_EQ_INT(config.message_bytes, 8 << 20);
	CHECK_EQ_INT(config.held_bytes, 1 << 30);
}

TEST(words_quotes_and_comments_are_read_as_they_are_meant)
{
	struct err err = ERR_INIT;

	CHECK_EQ_INT(parse("state = '/var/\\lib' socket = \"/run/\\\"x\\\".sock\" # not \"this\n"
			   "redactions = \"/etc/#1//2/*3*/\"//and a comment\n"
			   "queue_max=7/* seven */queue_ms=4s\n"
			   "alert a { command = { \"/bin/true\", 'a \"b\"', } }",
			     &err),
		0);
	CHECK_STR(config.state, "/var/\\lib");
	CHECK_STR(config.socket, "/run/\"x\".sock");
	CHECK_STR(config.redactions, "/etc/#1//2/*3*/");
	CHECK_EQ_INT(config.queue_max, 7);
	CHECK_EQ_INT(config.queue_ms, 4000);
	CHECK_STR(config.alerts[0].words[1], "a \"b\"");
}

TEST(a_byte_order_mark_in_front_is_passed_over)
{
	struct err err = ERR_INIT;

	CHECK_EQ_INT(parse("\xef\xbb\xbfqueue_max = 7\n", &err), 0);
	CHECK_EQ_INT(config.queue_max, 7);
}

TEST(sections_within_each_other_have_a_bound)
{
	static char text[4096];
	struct err err = ERR_INIT;

	memset(text, 0, sizeof(text));
	for (unsigned i = 0; i < 1000; i++)
		memcpy(text + (size_t)i * 3, "a {", 3);
	CHECK_EQ_INT(parse(text, &err), -1);
	CHECK_STR(err.text, "line 1: sections are nested too deeply");
}

TEST(users_are_named_by_number_or_name)
{
	struct err err = ERR_INIT;

	CHECK_EQ_INT(parse("for_uid root { limits { pids = 3 } }\n"
			   "alert a { uid = root }\n",
			     &err),
		0);
	CHECK_EQ_INT(config.allowances[0].id, 0);
	CHECK(config.alerts[0].has_uid);
	CHECK_EQ_INT(config.alerts[0].uid, 0);
}

TEST(an_unknown_setting_is_refused_by_name)
{
	expect_refused("quue_max = 4\n", "quue_max");
	expect_refused("limits { wall = 4s }\n", "wall");
}

TEST(units_must_suit_the_setting)
{
	expect_refused("queue_ms = 4mb\n", "queue_ms");
	expect_refused("message_bytes = 4s\n", "message_bytes");
	expect_refused("queue_max = -1\n", "queue_max");
	expect_refused("message_bytes = 99999999999gb\n", "message_bytes");
}

TEST(what_belongs_together_is_checked_together)
{
	expect_refused("limits { wall_ms = 2min }\n",
		"limits.wall_ms = 2min is above most.wall_ms = 1min");
	expect_refused("cgroups = \"maybe\"\n", "maybe");
	expect_refused("workers_min = 9\nworkers_max = 3\n", "workers_min");
}

TEST(who_may_connect_is_said_in_octal)
{
	struct err err = ERR_INIT;

	CHECK_EQ_INT(parse("socket_mode = \"0666\"", &err), 0);
	CHECK_EQ_INT(parse("socket_mode = 660", &err), 0);
	expect_refused("socket_mode = \"rw-rw----\"", "socket_mode");
	expect_refused("socket_mode = \"0680\"", "socket_mode");
	expect_refused("socket_mode = \"01777\"", "socket_mode");
	expect_refused("socket_mode = \"\"", "socket_mode");
}

static void check_same(const struct config *a, const struct config *b)
{
#define CHECK_NUMBER(name, otherwise, lowest, highest, change, meaning) \
	CHECK_EQ_INT(a->name, b->name);
	CONFIG_NUMBERS(CHECK_NUMBER)
#undef CHECK_NUMBER
#define CHECK_TEXT(name, otherwise, words, change, meaning) CHECK_STR(a->name, b->name);
	CONFIG_TEXTS(CHECK_TEXT)
#undef CHECK_TEXT
	CHECK(memcmp(&a->limits, &b->limits, sizeof(a->limits)) == 0);
	CHECK(memcmp(&a->most, &b->most, sizeof(a->most)) == 0);
	CHECK(!memcmp(&a->roles, &b->roles, sizeof(a->roles)));
	CHECK_EQ_INT(a->runtime_count, b->runtime_count);
	for (unsigned i = 0; i < a->runtime_count; i++)
		CHECK_EQ_INT(memcmp(&a->runtimes[i], &b->runtimes[i], sizeof(a->runtimes[i])), 0);
	CHECK_STR(a->runtimes[0].name, b->runtimes[0].name);
	CHECK_STR(a->runtimes[0].interpreter, b->runtimes[0].interpreter);
	CHECK_STR(a->runtimes[0].preload, b->runtimes[0].preload);
	CHECK_EQ_INT(a->runtimes[0].bind_count, b->runtimes[0].bind_count);
}

static void load(const char *name)
{
	struct err err = ERR_INIT;
	char path[4096];

	cut_printf(path, sizeof(path), "%s/%s", getenv("CED_SOURCE"), name);
	config_init(&config);
	config_add_shipped(&config);
	CHECK_EQ_INT(config_load(&config, path, &err), 0);
	CHECK_STR(err.text, "");
}

TEST(the_sample_with_every_setting_is_what_one_gets_without)
{
	static struct config standard;

	config_init(&standard);
	config_add_shipped(&standard);
	if (standard.runtime_count < 3)
		SKIP("this host lacks an interpreter of the sample");
	load("examples/ced.conf");
	check_same(&config, &standard);
}

TEST(the_settings_that_are_shipped_are_read)
{
	struct err err = ERR_INIT;

	load("systemd/ced.conf");
	CHECK_EQ_INT(config_finish(&config, &err), 0);
	load("examples/private.conf");
	CHECK_EQ_INT(config_finish(&config, &err), 0);
}

TEST(a_command_runtime_is_a_section_of_the_configuration)
{
	struct err err = ERR_INIT;
	const struct config_runtime *perl = &config.runtimes[1];

	CHECK_EQ_INT(
		parse("workers_max = 6\nworkers_min = 4\n"
		      "runtime perl { kind = \"command\" interpreter = \"/usr/bin/perl\"\n"
		      "  args = {\"-w\"} tools = {\"coreutils\", \"grep\"} file = \"main.pl\"\n"
		      "  errors = {\"%m at %f line %l.\"} workers_max = 2 }\n",
			&err),
		0);
	CHECK_EQ_INT(config.runtime_count, 2);
	CHECK_EQ_INT(perl->kind, KIND_COMMAND);
	CHECK_STR(perl->args, "-w");
	CHECK_STR(perl->tools, "coreutils grep");
	CHECK_STR(perl->file, "main.pl");
	CHECK_STR(perl->forms[0], "%m at %f line %l.");
	CHECK_EQ_INT(perl->form_count, 1);
	CHECK_EQ_INT(perl->workers_max, 2);
	CHECK_EQ_INT(perl->workers_min, 2);
	CHECK_EQ_INT(config.runtimes[0].workers_min, 4);
}

TEST(what_is_shipped_can_be_changed_and_switched_off)
{
	struct err err = ERR_INIT;

	config_init(&config);
	config_add_shipped(&config);
	if (config.runtime_count < 2)
		SKIP("this host has no other interpreter");
	CHECK_EQ_INT(
		config_parse(&config, "runtime bash { tools = {\"coreutils\", \"sed\"} }", &err),
		0);
	CHECK_EQ_INT(config_finish(&config, &err), 0);
	CHECK_STR(config.runtimes[1].tools, "coreutils sed");
	CHECK_STR(config.runtimes[1].file, "main.sh");
	CHECK_EQ_INT(config_parse(&config, "runtime bash { tools = {} errors = {} }", &err), 0);
	CHECK_STR(config.runtimes[1].tools, "");
	CHECK_EQ_INT(config.runtimes[1].form_count, 0);
	config_init(&config);
	config_add_shipped(&config);
	CHECK_EQ_INT(config_parse(&config, "runtime python { off = true }", &err), 0);
	CHECK_EQ_INT(config_parse(&config, "runtime not-installed { off = true }", &err), 0);
	CHECK_EQ_INT(config_finish(&config, &err), 0);
	CHECK_STR(config.runtimes[0].name, "bash");
	expect_refused("runtime python { off = true }", "off");
}

TEST(what_makes_no_command_runtime_is_refused_by_name)
{
	expect_refused("runtime x { interpreter = \"/x\" kind = \"jvm\" }", "kind");
	expect_refused(
		"runtime x { interpreter = \"/x\" kind = \"command\" tools = {\"/bin/ls\"} }",
		"tools");
	expect_refused("runtime x { interpreter = \"/x\" kind = \"command\" args = {\"tools:\"} }",
		"args");
	expect_refused(
		"runtime x { interpreter = \"/x\" kind = \"command\" args = {\"a b\"} }", "args");
	expect_refused("runtime x { interpreter = \"/x\" kind = \"command\" errors = {\"%m\"} }",
		"errors");
	expect_refused(
		"runtime x { interpreter = \"/x\" kind = \"command\" file = \"a/b\" }", "file");
	expect_refused("runtime x { interpreter = \"/x\" kind = \"command\" preload = {\"os\"} }",
		"preload");
	expect_refused("runtime python { tools = {\"ls\"} }", "tools");
	expect_refused("runtime python { workers_min = 5 workers_max = 2 }", "workers_min");
}

TEST(a_runtime_without_an_interpreter_or_with_odd_modules_is_refused)
{
	expect_refused("runtime ruby { }\n", "interpreter");
	expect_refused("runtime python { preload = {\"os; import x\"} }\n", "preload");
}

TEST(layers_are_required_by_name_and_an_empty_list_is_one)
{
	struct err err = ERR_INIT;

	CHECK_EQ_INT(parse("", &err), 0);
	CHECK(config.layers.cgroups && !config.layers.named);
	CHECK_EQ_INT(parse("require = {} cgroups = \"auto\"", &err), 0);
	CHECK(!config.layers.cgroups && config.layers.named);
	CHECK_EQ_INT(config.layers.require, 0);
	CHECK_EQ_INT(parse("require = {\"uids\", \"landlock\"}", &err), 0);
	CHECK_EQ_INT(config.layers.require, 1U << LAYER_UIDS | 1U << LAYER_LANDLOCK);
	expect_refused("require = {\"moon\"}", "no layer \"moon\"");
}

TEST(what_is_in_force_is_printed_as_names_and_values)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	struct err err = ERR_INIT;

	CHECK(out != NULL);
	config_init(&config);
	CHECK(config_parse(&config,
		      "cgroups = \"auto\" queue_max = 7 limits { wall_ms = 2s }\n"
		      "runtime slow { interpreter = \"/opt/python3\" }",
		      &err) == 0);
	config_print_in_force(&config, out);
	CHECK(fclose(out) == 0);
	CHECK(strstr(text, "\ncgroups=auto\n"));
	CHECK(strstr(text, "\nqueue_max=7\n"));
	CHECK(strstr(text, "\nlimits.wall_ms=2000\n"));
	CHECK(strstr(text, "\nmost.wall_ms=60000\n"));
	CHECK(strstr(text, "\nruntime.python.interpreter=/usr/bin/python3\n"));
	CHECK(strstr(text, "\nruntime.slow.interpreter=/opt/python3\n"));
	free(text);
}

TEST(alerts_are_read_and_what_makes_no_sense_is_refused)
{
	struct err err = ERR_INIT;

	CHECK_EQ_INT(
		parse("alert denials { outcome = {\"policy_denied\", \"refused\"} per = \"agent\"\n"
		      "  count = 5 within_ms = 10min command = {\"/bin/true\", \"a b\"} }\n"
		      "alert new { agent = \"billing\" uid = 1000 new_code = true }\n",
			&err),
		0);
	CHECK_EQ_INT(config.alert_count, 2);
	CHECK_STR(config.alerts[0].name, "denials");
	CHECK_EQ_INT(
		config.alerts[0].outcomes, 1U << OUTCOME_POLICY_DENIED | 1U << OUTCOME_REFUSED);
	CHECK_EQ_INT(config.alerts[0].per, ALERT_PER_AGENT);
	CHECK_EQ_INT(config.alerts[0].count, 5);
	CHECK_EQ_INT(config.alerts[0].within_ms, 600000);
	CHECK_EQ_INT(config.alerts[0].rest_ms, 60000);
	CHECK_EQ_INT(config.alerts[0].word_count, 2);
	CHECK_STR(config.alerts[0].words[1], "a b");
	CHECK(!config.alerts[0].has_uid && config.alerts[1].has_uid);
	CHECK_EQ_INT(config.alerts[1].uid, 1000);
	CHECK(config.alerts[1].new_code);
	expect_refused("alert x { outcome = {\"bad\"} }", "bad");
	expect_refused("alert x { command = {\"true\"} }", "absolute");
	expect_refused("alert x { per = \"moon\" }", "moon");
	expect_refused("alert x { count = 0 }", "outside");
	expect_refused("alert x { rest_ms = 5mb }", "invalid: write");
}

TEST(numbers_of_their_own_are_read_and_what_makes_no_sense_is_refused)
{
	struct err err = ERR_INIT;

	CHECK_EQ_INT(parse("runtime python { limits { wall_ms = 1s } }\n"
			   "for_policy strict { most { memory_bytes = 64mb } }\n"
			   "for_uid 1000 { limits { pids = 3 } most { pids = 3 } }\n"
			   "for_gid 5 { }\n",
			     &err),
		0);
	CHECK_EQ_INT(config.allowance_count, 3); /* the row without numbers is left out */
	CHECK_EQ_INT(config.allowances[0].limits.wall_ms, 1000);
	CHECK_EQ_INT(config.allowances[0].limits.pids, CONFIG_LIMIT_UNSET);
	CHECK_STR(config.allowances[1].name, "strict");
	CHECK_EQ_INT(config.allowances[2].id, 1000);
	CHECK_EQ_INT(config.limits.wall_ms, 5000);
	expect_refused("for_uid alice { limits { pids = 3 } }", "alice");
	expect_refused("for_uid 4294967295 { limits { pids = 3 } }", "4294967295");
	expect_refused("for_uid 1 { limits { pids = 0 } }", "outside");
	expect_refused("for_uid 1 { limits { pid = 1 } }", "pid");
	expect_refused("for_gid 1 { limits { pids = 4 } most { pids = 3 } }",
		"for_gid.1.limits.pids = 4 is above for_gid.1.most.pids = 3");
}
