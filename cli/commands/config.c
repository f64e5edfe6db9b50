/*
 * cectl config: checks a file of settings, explains a setting, and shows those in force.
 *
 * The daemon's own program knows the settings: `ced --check-config` and `ced --settings`.  It needs
 * no daemon that runs.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/base/command.h"
#include "cli/base/exits.h"
#include "cli/base/libexec.h"
#include "cli/commands/commands.h"
#include "cli/commands/words.h"
#include "cli/session/page.h"
#include "proto/base/container.h"
#include "proto/base/nearest.h"
#include "proto/json.h"

#define HOST_CONFIG  "/etc/ced/ced.conf"
#define ANSWER_BYTES ((size_t)4 << 20)
#define ANSWER_S     60
#define NAME         ".NAME."

/* ---- the daemon's program -------------------------------------------------------------------- */

/* Runs `ced ARGUMENT... --json` and reads its answer. */
static int ask_program_quietly(struct cli *cli, const char *argument, const char *value,
	const struct value **ret_answer, struct err *err)
{
	char own[LIBEXEC_PATH_MAX];
	char folder[LIBEXEC_PATH_MAX];
	char ced[LIBEXEC_PATH_MAX + 8];
	const char *const argv[] = { ced, "--json", argument, value, NULL };
	/* What the daemon will read must be readable for its user, too. */
	const struct command_line line = { argv, .seconds = ANSWER_S,
		.as_daemon = value && strcmp(value, HOST_CONFIG) == 0 };
	struct value *answer = NULL;
	char *text = arena_alloc(&cli->arena, ANSWER_BYTES);
	size_t len = 0;

	if (!text)
		return err_set(err, ERR_MEMORY, "no memory");
	if (libexec_find(own, folder, sizeof(folder), err) < 0)
		return err_wrap(err, "ced is not installed beside this cectl");
	cut_printf(ced, sizeof(ced), "%s/ced", folder);
	if (command_run(&line, text, ANSWER_BYTES, &len, err) < 0 ||
		json_parse(&cli->arena, text, len, NULL, &answer, err) < 0)
		return err_wrap(err, "%s --json %s", ced, argument);
	*ret_answer = answer;
	return 0;
}

/* Returns 0, or the exit status after reporting why there is no answer. */
static int ask_program(
	struct cli *cli, const char *argument, const char *value, const struct value **ret_answer)
{
	struct err err = ERR_INIT;

	return ask_program_quietly(cli, argument, value, ret_answer, &err) < 0 ? cli_fail(cli, &err)
									       : 0;
}

const struct value *config_keys(struct cli *cli)
{
	const struct value *all = NULL;

	return ask_program_quietly(cli, "--settings", NULL, &all, NULL) < 0 ? NULL : all;
}

/* ---- check ----------------------------------------------------------------------------------- */

static void show_complaint(struct cli *cli, const struct value *complaint)
{
	const char *file = page_text(cli, complaint, "file");
	const char *line = page_text(cli, complaint, "line");

	say(&cli->out, PAINT_RED, "%s ", output_mark(&cli->out, MARK_BAD));
	if (file[0])
		say(&cli->out, PAINT_BOLD, "%s%s%s: ", file, line[0] ? ":" : "", line);
	say(&cli->out, PAINT_PLAIN, "%s\n", page_text(cli, complaint, "message"));
}

static int run_check(struct cli *cli)
{
	const char *path = cli_operand(cli, 0) ? cli_operand(cli, 0) : HOST_CONFIG;
	const struct value *answer = NULL;
	const struct value *complaints;
	int status = ask_program(cli, "--check-config", path, &answer);

	if (status != 0)
		return status;
	complaints = value_get(answer, "complaints");
	status = value_as_bool(value_get(answer, "ok"), false) ? EXIT_OK : EXIT_FAILED;
	if (cli->json)
		return cli_document(cli, answer, status);
	for (size_t i = 0; value_at(complaints, i); i++)
		show_complaint(cli, value_at(complaints, i));
	if (status == EXIT_OK)
		say(&cli->out, PAINT_GREEN, "%s no mistake found in %s (%s settings)\n",
			output_mark(&cli->out, MARK_GOOD), page_list(cli, answer, "files"),
			page_text(cli, answer, "settings"));
	return status;
}

// clang-format off
const struct command config_check_command = {
	.name = "config check",
	.operands = "[FILE]",
	.summary = "looks for mistakes in a file of settings, before it is used",
	.about =
		"Reads FILE, else /etc/ced/ced.conf, and the files of its folder FILE.d whose names end "
		"with .conf, as the daemon does when it starts: names, values, and what they refer to, "
		"such as interpreters, policies, patterns of secrets and folders of package sets.  Prints each mistake with its "
		"file, its line and what to write instead.  Without FILE, root reads them as the daemon's user does.  Needs no daemon; `cectl doctor --config FILE` "
		"tries what the host gives to jails.\n"
		"Exits with 1 when there is a mistake.",
	.operand_most = 1,
	.examples = EXAMPLES(
		{ "cectl config check", "the settings of this host" },
		{ "cectl config check new.conf && sudo cp new.conf /etc/ced/ced.conf && sudo cectl reload",
		  "use a file only when it is right" },
		{ "cectl config check new.conf --json | jq '.complaints[].remedy'", "what to write instead" }),
	.run = run_check,
};
// clang-format on

/* ---- explain --------------------------------------------------------------------------------- */

/* "alert.denials.count" is "alert.NAME.count"; NULL: the key has no part that may be a name. */
static const char *with_name(struct cli *cli, const char *key, const char *wanted)
{
	const char *place = strstr(key, NAME);
	size_t front = place ? (size_t)(place - key) + 1 : 0;
	const char *rest = place ? place + strlen(NAME) - 1 : NULL;
	size_t len = strlen(wanted);

	if (!place || strncmp(key, wanted, front) != 0 || len <= front + strlen(rest) ||
		strcmp(wanted + len - strlen(rest), rest) != 0)
		return NULL;
	return arena_printf(&cli->arena, "%s", wanted);
}

static bool ends_with_name(const char *key, const char *name)
{
	size_t key_len = strlen(key);
	size_t len = strlen(name);

	return key_len > len && key[key_len - len - 1] == '.' && !strcmp(key + key_len - len, name);
}

static bool is_meant(struct cli *cli, const char *key, const char *wanted)
{
	return !strcmp(key, wanted) || ends_with_name(key, wanted) || with_name(cli, key, wanted);
}

static const char *place_of(struct cli *cli, const char *key)
{
	const char *dot = strrchr(key, '.');
	char text[256];
	size_t len = 0;

	if (!dot)
		return "outside all sections";
	for (const char *at = key; at < dot; at++)
		if (len + 4 < sizeof(text)) {
			bool is_section_end = *at == '.' && strncmp(at, NAME, 5) != 0;

			if (is_section_end) {
				memcpy(text + len, " { ", 3);
				len += 3;
			} else {
				text[len] = *at;
				if (*at == '.')
					text[len] = ' ';
				len++;
			}
		}
	text[len] = '\0';
	return arena_printf(&cli->arena, "%s { }%s", text, strchr(text, '{') ? " }" : "");
}

static void explain(struct cli *cli, const struct value *row)
{
	const char *key = page_text(cli, row, "key");
	const char *lowest = page_text(cli, row, "lowest");
	const char *words = page_list(cli, row, "words");
	bool reloads = strcmp(page_text(cli, row, "change"), "reload") == 0;

	say(&cli->out, PAINT_BOLD, "%s\n", key);
	page_wrapped(cli, PAINT_PLAIN, page_text(cli, row, "meaning"), 2);
	if (value_get(row, "default"))
		page_field(cli, "default",
			page_text(cli, row, "default")[0] ? page_text(cli, row, "default")
							  : "\"\"");
	if (lowest[0])
		page_field(cli, "range",
			arena_printf(
				&cli->arena, "%s to %s", lowest, page_text(cli, row, "highest")));
	if (words[0])
		page_field(cli, "one of", words);
	page_field(cli, "write", page_text(cli, row, "form"));
	page_field(cli, "where", place_of(cli, key));
	page_field(cli, "change", reloads ? "cectl reload" : "systemctl restart ced");
}

static int find_none(struct cli *cli, const struct value *all, const char *wanted)
{
	struct nearest nearest = NEAREST_OF(wanted);

	for (size_t i = 0; value_at(all, i); i++) {
		const char *key = page_text(cli, value_at(all, i), "key");
		const char *dot = strrchr(key, '.');

		nearest_offer(&nearest, key);
		if (dot)
			nearest_offer(&nearest, dot + 1);
	}
	return cli_fail_with(cli, ERR_MISSING, "there is no setting %s%s",
		output_safe(&cli->arena, wanted),
		nearest.best ? nearest_hint(&nearest) : "; `cectl config explain` lists them all");
}

static int list_all(struct cli *cli, const struct value *all)
{
	// clang-format off
	static const struct page_column columns[] = {
		{ { "SETTING", false, false, 0 }, "key",     PAINT_BOLD,  NULL, NULL },
		{ { "DEFAULT", false, false, 2 }, "default", PAINT_PLAIN, NULL, NULL },
		{ { "CHANGE",  false, false, 1 }, "change",  PAINT_DIM,   NULL, NULL },
		{ { "MEANING", false, true,  0 }, "meaning", PAINT_PLAIN, NULL, NULL },
	};
	// clang-format on

	if (cli->json)
		return cli_document(cli, all, EXIT_OK);
	page_table(cli, columns, COUNT_OF(columns), all, 0);
	return EXIT_OK;
}

/* The settings of a section: "limits" has limits.wall_ms. */
static struct value *in_section(struct cli *cli, const struct value *all, const char *section)
{
	struct value *found = value_list(&cli->arena);
	size_t len = strlen(section);

	for (size_t i = 0; value_at(all, i); i++) {
		const char *key = page_text(cli, value_at(all, i), "key");

		if (!strncmp(key, section, len) && key[len] == '.')
			value_list_add(
				&cli->arena, found, value_copy(&cli->arena, value_at(all, i)));
	}
	return found;
}

static int run_explain(struct cli *cli)
{
	const char *wanted = cli_operand(cli, 0);
	const struct value *all = NULL;
	struct value *found = value_list(&cli->arena);
	int status = ask_program(cli, "--settings", NULL, &all);

	if (status != 0)
		return status;
	if (!wanted)
		return list_all(cli, all);
	for (size_t i = 0; value_at(all, i); i++)
		if (is_meant(cli, page_text(cli, value_at(all, i), "key"), wanted))
			value_list_add(
				&cli->arena, found, value_copy(&cli->arena, value_at(all, i)));
	if (!value_at(found, 0)) {
		found = in_section(cli, all, wanted);
		return value_at(found, 0) ? list_all(cli, found) : find_none(cli, all, wanted);
	}
	if (cli->json)
		return cli_document(cli, found, EXIT_OK);
	for (size_t i = 0; value_at(found, i); i++) {
		say(&cli->out, PAINT_PLAIN, "%s", i ? "\n" : "");
		explain(cli, value_at(found, i));
	}
	return EXIT_OK;
}

// clang-format off
const struct command config_explain_command = {
	.name = "config explain",
	.operands = "[KEY]",
	.summary = "what a setting means, its default, its range and where it is written",
	.about =
		"KEY is a setting, with its sections or without: queue_max, limits.wall_ms, "
		"alert.denials.count.  A name that stands in several sections is explained for each.  "
		"Of a section, such as limits, it lists the settings.  "
		"Without KEY, all settings.  Says whether a new value needs `cectl reload` or a restart.  "
		"Needs no daemon.\n"
		"Exits with 1 when there is no such setting.",
	.operand_most = 1,
	.examples = EXAMPLES(
		{ "cectl config explain queue_max", "one setting" },
		{ "cectl config explain wall_ms", "in every section where it may stand" },
		{ "cectl config explain --json | jq -r '.[] | select(.change == \"restart\") | .key'",
		  "what needs a restart" }),
	.run = run_explain,
};
// clang-format on

/* ---- show ------------------------------------------------------------------------------------ */

/* "ced.conf:12", "default", "command line" */
static const char *source_of(struct cli *cli, const struct value *setting, const char *key)
{
	const char *source = page_text(cli, setting, key);
	const char *file = page_text(cli, setting, "file");
	const char *slash = strrchr(file, '/');
	const char *text;

	if (!file[0])
		return source;
	text = arena_printf(
		&cli->arena, "%s:%s", slash ? slash + 1 : file, page_text(cli, setting, "line"));
	return text ? text : "";
}

static const char *value_of(struct cli *cli, const struct value *setting, const char *key)
{
	const char *text = page_text(cli, setting, key);

	return text[0] ? text : "\"\"";
}

// clang-format off
static const struct page_column shown[] = {
	{ { "SETTING", false, false, 0 }, "key",    PAINT_BOLD,  NULL,      NULL },
	{ { "VALUE",   false, true,  0 }, "value",  PAINT_PLAIN, value_of,  NULL },
	{ { "FROM",    false, false, 0 }, "source", PAINT_DIM,   source_of, NULL },
	{ { "CHANGE",  false, false, 1 }, "change", PAINT_DIM,   NULL,      NULL },
};
// clang-format on

/* Below a key are the settings of that section. */
static bool is_wanted(const char *key, const char *wanted)
{
	size_t len = strlen(wanted);

	return !strcmp(key, wanted) || (!strncmp(key, wanted, len) && key[len] == '.') ||
	       ends_with_name(key, wanted);
}

static struct value *filter(struct cli *cli, const struct value *settings)
{
	const char *wanted = cli_operand(cli, 0);
	bool changed = cli_flag(cli, "changed");
	struct value *list = value_list(&cli->arena);

	for (size_t i = 0; value_at(settings, i); i++) {
		const struct value *setting = value_at(settings, i);
		bool is_default = !strcmp(page_text(cli, setting, "source"), "default");

		if ((!wanted || is_wanted(page_text(cli, setting, "key"), wanted)) &&
			!(changed && is_default))
			value_list_add(&cli->arena, list, value_copy(&cli->arena, setting));
	}
	return list;
}

static int show_none(struct cli *cli, const struct value *settings)
{
	const char *wanted = cli_operand(cli, 0);
	struct nearest nearest = NEAREST_OF(wanted ? wanted : "");

	if (!wanted || cli_flag(cli, "changed")) {
		say(&cli->err, PAINT_DIM, "every setting is at its default\n");
		return EXIT_OK;
	}
	for (size_t i = 0; value_at(settings, i); i++)
		nearest_offer(&nearest, page_text(cli, value_at(settings, i), "key"));
	return cli_fail_with(cli, ERR_MISSING, "there is no setting %s%s",
		output_safe(&cli->arena, wanted), nearest_hint(&nearest));
}

static int run_show(struct cli *cli)
{
	const struct value *result = NULL;
	const struct value *settings;
	struct value *list;
	int status = cli_ask(cli, "config.show", value_map(&cli->arena), NULL, &result);

	if (status != 0)
		return status;
	settings = value_get(result, "settings");
	list = filter(cli, settings);
	if (cli->json && (cli_operand(cli, 0) || cli_flag(cli, "changed")))
		return cli_document(cli, list, value_at(list, 0) ? EXIT_OK : EXIT_FAILED);
	if (cli->json)
		return cli_document(cli, result, EXIT_OK);
	if (!value_at(list, 0))
		return show_none(cli, settings);
	page_table(cli, shown, COUNT_OF(shown), list, 0);
	return EXIT_OK;
}

// clang-format off
const struct command config_show_command = {
	.name = "config show",
	.operands = "[KEY]",
	.summary = "the settings in force in the daemon, and where each comes from",
	.about =
		"Asks the running daemon; for administrators.  FROM says where a value comes from: its "
		"default, a file with the line, the command line, or `start` for a value that the files "
		"no longer have and that needs a restart to change.  KEY is a setting or a section.",
	.options = OPTIONS(
		{ 0, "changed", NULL, OPTION_FLAG, NULL, NULL, "only what is not at its default" }),
	.operand_most = 1,
	.examples = EXAMPLES(
		{ "cectl config show --changed", "what this host has changed" },
		{ "cectl config show queue_max", "one setting" },
		{ "cectl config show limits", "a section" }),
	.run = run_show,
};
// clang-format on
