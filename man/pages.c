/*
 * Makes the manual pages: cectl's from the tables of its commands, the others from pages in
 * man/pages/, where a line `.\" @NAME` stands for what a table of the program says.
 *
 *	man_pages FOLDER OUT DATE
 *
 * Runs while building and is not installed.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/commands.h"
#include "daemon/policy/rule_sources.h"
#include "daemon/settings/config_file.h"
#include "daemon/settings/config_numbers.h"
#include "daemon/settings/setting.h"
#include "man/roff.h"
#include "proto/base/cleanup.h"
#include "proto/base/container.h"
#include "proto/base/embedded.h"
#include "proto/json.h"
#include "proto/method/method.h"
#include "proto/version.h"
#include "proto/wire/rpc.h"

#define ARENA_BYTES    ((size_t)256 << 20)
#define MORE_BYTES     ((size_t)1 << 20)
#define SECTIONS_DEPTH 3

static struct arena arena;
static const char *date;

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "man_pages: %s: %s\n", what, why);
	exit(EXIT_FAILURE);
}

static FILE *page_open(const char *folder, const char *name, const char *section)
{
	char path[4096];
	FILE *out;

	cut_printf(path, sizeof(path), "%s/%s.%s", folder, name, section);
	out = fopen(path, "we");
	if (!out)
		fail(path, "cannot be written");
	return out;
}

static void page_close(FILE *out)
{
	if (fflush(out) != 0 || ferror(out) || fclose(out) != 0)
		fail("a page", "cannot be written");
}

static void page_head(FILE *out, const char *title, const char *section)
{
	fprintf(out, ".Dd %s\n.Dt %s %s\n.Os ced %s\n", date, title, section, CED_VERSION);
}

/* ---- cectl ----------------------------------------------------------------------------------- */

static const struct {
	const char *heading; /* NULL: as the one before */
	const struct command *command;
} commands[] = {
#define COMMAND_ROW(heading, name) { heading, &name##_command },
	COMMANDS(COMMAND_ROW)
#undef COMMAND_ROW
};

/* The page of `audit verify` is cectl-audit-verify(1). */
static const char *command_page(const struct command *command)
{
	char *name = arena_printf(&arena, "cectl-%s", command->name);

	for (char *at = name; *at; at++)
		*at = *at == ' ' ? '-' : *at;
	return name;
}

static void put_commands(FILE *out)
{
	for (size_t i = 0; i < COUNT_OF(commands); i++) {
		if (commands[i].heading)
			fprintf(out, "%s.Ss %s\n.Bl -tag -width audit-checkpoint\n",
				i ? ".El\n" : "", commands[i].heading);
		fputs(".It Xr", out);
		roff_argument(out, command_page(commands[i].command));
		fputs(" 1\n", out);
		roff_prose(out, commands[i].command->summary);
	}
	fputs(".El\n", out);
}

static void put_option(FILE *out, const struct option_row *row)
{
	fputs(".It", out);
	if (row->letter)
		fprintf(out, " Fl %c ,", row->letter);
	fprintf(out, " Fl \\-%s", row->name);
	if (row->argument) {
		fputs(" Ar", out);
		roff_argument(out, row->argument);
	}
	fputc('\n', out);
	roff_prose(out, row->meaning);
}

static void put_options(FILE *out, const struct command *command)
{
	fputs(".Sh OPTIONS\n.Bl -tag -width Ds\n", out);
	for (const struct option_row *row = command->options; row && row->name; row++)
		put_option(out, row);
	for (const struct option_row *row = options_common(); row->name; row++) {
		if (options_common_fits(command, row))
			put_option(out, row);
	}
	fputs(".El\n", out);
}

static void put_common(FILE *out)
{
	for (const struct option_row *row = options_common(); row->name; row++)
		put_option(out, row);
}

static void put_examples(FILE *out, const struct example *examples)
{
	if (!examples)
		return;
	fputs(".Sh EXAMPLES\n", out);
	for (; examples->line; examples++) {
		fputs(".Bd -literal -offset indent\n", out);
		roff_literal(out, examples->line);
		fputs(".Ed\n.Pp\n", out);
		roff_prose(out, examples->meaning);
	}
}

/* What its help says besides: "Exit status:" and lines below it become a section of that name. */
static void put_more(FILE *out, const struct command *command)
{
	struct buf more;
	size_t len;
	char *text;
	char *colon;

	if (!command->print_more)
		return;
	buf_init(&more, MORE_BYTES);
	if (command->print_more(&more) < 0 || buf_append_byte(&more, '\0') < 0)
		fail(command->name, "no memory");
	text = (char *)more.bytes + strspn((char *)more.bytes, "\n");
	colon = strstr(text, ":\n");
	if (colon) {
		*colon = '\0';
		for (char *at = text; *at; at++)
			*at = (char)toupper((unsigned char)*at);
		fputs(".Sh", out);
		roff_argument(out, text);
		fputc('\n', out);
		text = colon + 2;
	}
	len = strlen(text);
	while (len > 0 && text[len - 1] == '\n')
		text[--len] = '\0';
	fputs(".Bd -literal\n", out);
	roff_literal(out, text);
	fputs(".Ed\n", out);
	buf_done(&more);
}

static void put_command_page(FILE *out, const struct command *command)
{
	const char *page = command_page(command);

	page_head(out, page, "1");
	fprintf(out, ".Sh NAME\n.Nm %s\n.Nd ", page);
	roff_prose(out, command->summary);
	fprintf(out, ".Sh SYNOPSIS\n.Nm \"cectl %s\"\n.Op Ar OPTION ...\n", command->name);
	if (command->operands) {
		fputs(".Ar", out);
		roff_argument(out, command->operands);
		fputc('\n', out);
	}
	fputs(".Sh DESCRIPTION\n", out);
	roff_prose(out, command->about);
	put_options(out, command);
	put_more(out, command);
	put_examples(out, command->examples);
	fputs(".Sh SEE ALSO\n.Xr cectl 1 ,\n.Xr ced 8\n", out);
}

/* ---- settings -------------------------------------------------------------------------------- */

/* "10s (100ms to 10min)" */
static void put_range(FILE *out, const struct setting *row)
{
	char standard[32];
	char lowest[32];
	char highest[32];

	config_number_text(standard, sizeof(standard), row->name, row->otherwise);
	config_number_text(lowest, sizeof(lowest), row->name, row->lowest);
	config_number_text(highest, sizeof(highest), row->name, row->highest);
	fprintf(out, "Default %s; from %s to %s.\n", standard, lowest, highest);
}

static void put_words(FILE *out, const char *const *words)
{
	fputs("One of", out);
	for (; *words; words++)
		fprintf(out, " \\fB%s\\fR%s", *words, words[1] ? "," : ".\n");
}

static const char *const shapes[SETTING_TYPES] = {
	[SETTING_TEXT] = "A text.",
	[SETTING_BOOL] = "true or false.",
	[SETTING_LIST] = "A list, {a, b}.",
	[SETTING_SECTION] = "A section, { ... }.",
	[SETTING_NAMED] = "Sections, each with a name.",
};

static void put_settings(FILE *out, const struct setting *table, unsigned depth);

static void put_setting(FILE *out, const struct setting *row, unsigned depth)
{
	fprintf(out, ".It Ic %s%s\n", row->name, row->type == SETTING_NAMED ? " Ar NAME" : "");
	if (row->meaning) {
		roff_prose(out, row->meaning);
		fputs(".Pp\n", out);
	}
	if (row->type == SETTING_NUMBER)
		put_range(out, row);
	else if (row->words)
		put_words(out, row->words);
	else
		roff_prose(out, shapes[row->type]);
	if (row->type == SETTING_TEXT && row->text)
		fprintf(out, "Default \\(dq%s\\(dq.\n", row->text);
	if (row->section && depth < SECTIONS_DEPTH)
		put_settings(out, row->section, depth + 1);
}

/* Sections inside a section are those of the same name outside: one line says so. */
static void put_settings(FILE *out, const struct setting *table, unsigned depth)
{
	fprintf(out, ".Bl -tag -width Ds\n");
	for (SETTING_EACH(row, table)) {
		if (depth > 0 && row->type == SETTING_SECTION) {
			fprintf(out,
				".It Ic %s\nAs the section of this name outside, for this case alone.\n",
				row->name);
			continue;
		}
		put_setting(out, row, depth);
	}
	fputs(".El\n", out);
}

static void put_all_settings(FILE *out)
{
	put_settings(out, config_settings, 0);
}

/* ---- policies -------------------------------------------------------------------------------- */

static struct value *parsed(const char *name, const void *text, size_t len)
{
	struct err err = ERR_INIT;
	struct value *value = NULL;

	if (json_parse(&arena, text, len, NULL, &value, &err) < 0)
		fail(name, err.text);
	return value;
}

static void put_policies(FILE *out)
{
	extern const struct embedded policy_files[];

	fputs(".Bl -tag -width standard\n", out);
	for (const struct embedded *file = policy_files; file->name; file++) {
		const struct value *policy = parsed(file->name, file->bytes, file->len);

		fprintf(out, ".It Ic %s\n", value_as_text(value_get(policy, "name")));
		roff_prose(out, value_as_text(value_get(policy, "description")));
	}
	fputs(".El\n", out);
}

static void put_rules(FILE *out)
{
	struct rule_source *sources;
	struct err err = ERR_INIT;
	size_t count;

	if (rule_sources_load(&arena, NULL, &sources, &count, &err) < 0)
		fail("rules", err.text);
	fputs(".Bl -tag -width Ds\n", out);
	for (size_t i = 0; i < count; i++) {
		for (size_t at = 0; at < sources[i].head_count; at++) {
			fprintf(out, ".It Ic %s\n", sources[i].heads[at].id);
			roff_prose(out, sources[i].heads[at].message);
		}
	}
	fputs(".El\n", out);
}

/* ---- the protocol ---------------------------------------------------------------------------- */

static void put_alternatives(FILE *out, const struct value *list)
{
	for (size_t i = 0; value_at(list, i); i++) {
		const char *word = value_as_text(value_at(list, i));

		fprintf(out, "%s%s", i ? ", " : "", word ? word : "nil");
	}
}

/* The type of a param, as its schema has it. */
static void put_type(FILE *out, const struct value *schema)
{
	const struct value *type = value_get(schema, "type");
	const struct value *words = value_get(schema, "enum");

	fputs("\n\\-\\ ", out);
	if (words) {
		fputs("one of ", out);
		put_alternatives(out, words);
	} else if (value_as_text(type)) {
		fputs(value_as_text(type), out);
	} else if (type) {
		put_alternatives(out, type);
	} else {
		fputs("any value", out);
	}
}

static bool is_required(const struct value *schema, const char *key)
{
	const struct value *required = value_get(schema, "required");

	for (size_t i = 0; value_at(required, i); i++) {
		if (strcmp(value_as_text(value_at(required, i)), key) == 0)
			return true;
	}
	return false;
}

static void put_params(FILE *out, const struct method *method)
{
	size_t len;
	const char *text = method_contract_text(method->params_file, &len);
	const struct value *schema = parsed(method->name, text, len);
	const struct value *keys = value_get(schema, "properties");

	if (!keys || keys->map.count == 0) {
		fputs("It has no params.\n", out);
		return;
	}
	fputs(".Bl -tag -width Ds -compact\n", out);
	for (size_t i = 0; i < keys->map.count; i++) {
		const struct value_entry *entry = &keys->map.entries[i];
		const char *meaning = value_as_text(value_get(entry->value, "description"));

		fprintf(out, ".It Va %s", entry->key);
		put_type(out, entry->value);
		fputs(is_required(schema, entry->key) ? "; required\n" : "\n", out);
		if (meaning)
			roff_prose(out, meaning);
	}
	fputs(".El\n", out);
}

static void put_rights(FILE *out, const struct method *method)
{
	static const char *const says[] = {
		[RIGHT_OWN] = " (own runs)",
		[RIGHT_YES] = "",
	};
	const char *between = "For ";

	for (unsigned role = 0; role < ROLE_COUNT; role++) {
		enum right right = method_right(method, ROLE_BIT(role));

		if (right == RIGHT_NO)
			continue;
		fprintf(out, "%s%s%s", between, role_word((enum role)role), says[right]);
		between = ", ";
	}
	fputs(".\n", out);
}

static void put_methods(FILE *out)
{
	for (unsigned id = 0; id < METHOD_COUNT; id++) {
		const struct method *method = method_of((enum method_id)id);

		fprintf(out, ".Ss %s\n", method->name);
		put_rights(out, method);
		put_params(out, method);
	}
}

static void put_errors(FILE *out)
{
	static const struct {
		const char *word, *meaning;
	} codes[] = {
#define CODE_ROW(name, word, meaning) { word, meaning },
		RPC_CODES(CODE_ROW)
#undef CODE_ROW
	};

	fputs(".Bl -tag -width unknown_method\n", out);
	for (size_t i = 0; i < COUNT_OF(codes); i++) {
		fprintf(out, ".It Er %s\n", codes[i].word);
		roff_prose(out, codes[i].meaning);
	}
	fputs(".El\n", out);
}

static void put_limits(FILE *out)
{
	static const struct {
		const char *name, *meaning;
	} limits[] = {
#define LIMIT_ROW(name, meaning) { #name, meaning },
		JOB_LIMITS(LIMIT_ROW)
#undef LIMIT_ROW
	};

	fputs(".Bl -tag -width artifact_count\n", out);
	for (size_t i = 0; i < COUNT_OF(limits); i++) {
		fprintf(out, ".It Va %s\n", limits[i].name);
		roff_prose(out, limits[i].meaning);
	}
	fputs(".El\n", out);
}

/* ---- pages with prose ------------------------------------------------------------------------ */

static const struct {
	const char *name;
	void (*put)(FILE *out);
} tables[] = {
	{ "commands", put_commands },
	{ "common", put_common },
	{ "settings", put_all_settings },
	{ "policies", put_policies },
	{ "rules", put_rules },
	{ "methods", put_methods },
	{ "errors", put_errors },
	{ "limits", put_limits },
};

static void put_table(FILE *out, const char *name)
{
	for (size_t i = 0; i < COUNT_OF(tables); i++) {
		if (strcmp(tables[i].name, name) == 0) {
			tables[i].put(out);
			return;
		}
	}
	fail(name, "there is no such table");
}

static const struct {
	const char *name, *title, *section;
} pages[] = {
	{ "ced", "CED", "8" },
	{ "ced-spawner", "CED-SPAWNER", "8" },
	{ "ced.conf", "CED.CONF", "5" },
	{ "ced-policy", "CED-POLICY", "5" },
	{ "cectl", "CECTL", "1" },
	{ "ced-protocol", "CED-PROTOCOL", "7" },
};

static void copy_page(FILE *out, const char *path)
{
	static const char mark[] = ".\\\" @";
	char line[1024];
	FILE *in = fopen(path, "re");

	if (!in)
		fail(path, "cannot be read");
	while (fgets(line, sizeof(line), in)) {
		if (strncmp(line, mark, strlen(mark)) != 0) {
			fputs(line, out);
			continue;
		}
		line[strcspn(line, "\n")] = '\0';
		put_table(out, line + strlen(mark));
	}
	if (ferror(in) || fclose(in) != 0)
		fail(path, "cannot be read");
}

int main(int argc, char **argv)
{
	if (argc != 4)
		fail("usage", "man_pages FOLDER OUT DATE");
	date = argv[3];
	arena_init(&arena, ARENA_BYTES);
	for (size_t i = 0; i < COUNT_OF(pages); i++) {
		FILE *out = page_open(argv[2], pages[i].name, pages[i].section);
		char path[4096];

		page_head(out, pages[i].title, pages[i].section);
		cut_printf(
			path, sizeof(path), "%s/%s.%s", argv[1], pages[i].name, pages[i].section);
		copy_page(out, path);
		page_close(out);
	}
	for (size_t i = 0; i < COUNT_OF(commands); i++) {
		FILE *out = page_open(argv[2], command_page(commands[i].command), "1");

		put_command_page(out, commands[i].command);
		page_close(out);
	}
	arena_done(&arena);
	return EXIT_SUCCESS;
}
