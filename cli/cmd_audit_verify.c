/* Has anybody touched the record? */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/exits.h"
#include "cli/page.h"
#include "cli/units.h"
#include "cli/verification.h"
#include "proto/base/fdio.h"

#define SECOND_MAX   ((size_t)12 << 20) /* in one message */
#define KEY_FILE_MAX ((size_t)4096)

struct verify_options {
	const char *from;
	const char *to;
	const char *key;
	const char *checkpoints;
};

// clang-format off
static const struct option_row rows[] = {
	{ 0, "from", "LINK", OPTION_TEXT, offsetof(struct verify_options, from),
		"only the links of the chain from this one on" },
	{ 0, "to", "LINK", OPTION_TEXT, offsetof(struct verify_options, to),
		"and up to this one" },
	{ 0, "key", "KEY", OPTION_TEXT, offsetof(struct verify_options, key),
		"what `cectl audit key` printed once, or a file with that; else the daemon's own" },
	{ 0, "checkpoints", "FILE", OPTION_TEXT, offsetof(struct verify_options, checkpoints),
		"a copy of the second file; else the daemon's own" },
	{ 0, NULL, NULL, OPTION_FLAG, 0, NULL },
};

static const struct example examples[] = {
	{ "cectl audit verify", "everything, of the daemon that runs" },
	{ "cectl audit verify --from 1000 --to 2000", "a part of the chain" },
	{ "cectl --store copy.db audit verify --key ced.key --checkpoints kept.log",
		"a copy, by what was kept elsewhere" },
	{ NULL, NULL },
};
// clang-format on

/* ---- what was given ------------------------------------------------------------------------- */

static int read_number(struct cli *cli, const char *name, const char *text, int64_t *ret)
{
	struct err err = ERR_INIT;
	uint64_t number = 0;

	if (!text)
		return 0;
	if (units_parse_count(text, &number, &err) < 0 || !number || number > INT64_MAX)
		return cli_usage(cli, "%s: %s is no number of a link", name, text);
	*ret = (int64_t)number;
	return 0;
}

/* The key itself, or the first line of a file. */
static int read_key(struct verification *verification, const char *given)
{
	char *text = NULL;
	size_t len = 0;
	struct err err = ERR_INIT;

	if (!given || strncmp(given, "ed25519:", 8) == 0) {
		verification->key = given;
		return 0;
	}
	if (read_file(given, KEY_FILE_MAX, &text, &len, &err) < 0)
		return cli_fail(verification->cli, &err);
	text[strcspn(text, "\n")] = '\0';
	verification->key = arena_printf(&verification->cli->arena, "%s", text);
	free(text);
	return verification->key ? 0 : cli_no_memory(verification->cli);
}

static int read_second(struct verification *verification, const char *path)
{
	char *text = NULL;
	size_t len = 0;
	struct err err = ERR_INIT;

	if (!path)
		return 0;
	if (read_file(path, SECOND_MAX, &text, &len, &err) < 0)
		return cli_fail(verification->cli, &err);
	verification->second = arena_printf(&verification->cli->arena, "%s", text);
	free(text);
	return verification->second ? 0 : cli_no_memory(verification->cli);
}

static int read_options(struct verification *verification, const struct verify_options *options)
{
	int status = read_number(verification->cli, "--from", options->from, &verification->from);

	if (status == 0)
		status = read_number(verification->cli, "--to", options->to, &verification->to);
	if (status == 0 && verification->to && verification->to < verification->from)
		status = cli_usage(verification->cli, "--to is before --from");
	if (status == 0)
		status = read_key(verification, options->key);
	return status == 0 ? read_second(verification, options->checkpoints) : status;
}

/* ---- telling -------------------------------------------------------------------------------- */

static int tell_json(struct verification *verification, int status)
{
	struct arena *arena = &verification->cli->arena;
	struct value *document = value_map(arena);
	struct value *checked = value_map(arena);

	for (size_t part = 0; part < VERIFICATION_PARTS; part++)
		value_map_put(arena, checked, verification_part_name(part),
			value_int(arena, verification->parts[part].checked));
	value_map_put(arena, document, "ok", value_bool(arena, !verification->found));
	value_map_put(arena, document, "checked", checked);
	value_map_put(arena, document, "found", value_int(arena, verification->found));
	value_map_put(arena, document, "problems", verification->problems);
	return cli_document(verification->cli, document, status);
}

static void tell_problem(struct cli *cli, const struct value *problem)
{
	const char *run_id = page_text(cli, problem, "run_id");
	const char *table = page_text(cli, problem, "table");

	say(&cli->out, PAINT_RED, "%s ", output_mark(&cli->out, MARK_BAD));
	say(&cli->out, PAINT_PLAIN, "%s", page_text(cli, problem, "message"));
	if (run_id[0])
		say(&cli->out, PAINT_DIM, "  run %s", run_id);
	if (table[0])
		say(&cli->out, PAINT_DIM, "  %s, row %s", table, page_text(cli, problem, "row"));
	say(&cli->out, PAINT_PLAIN, "\n");
}

static int tell(struct verification *verification)
{
	struct cli *cli = verification->cli;
	int status = verification->found ? EXIT_FAILED : EXIT_OK;

	if (cli->json)
		return tell_json(verification, status);
	for (size_t i = 0; value_at(verification->problems, i); i++)
		tell_problem(cli, value_at(verification->problems, i));
	if (verification->found > (int64_t)verification->problems->list.count)
		say(&cli->out, PAINT_DIM, "and %" PRId64 " more\n",
			verification->found - (int64_t)verification->problems->list.count);
	for (size_t part = 0; part < VERIFICATION_PARTS; part++)
		if (verification->parts[part].checked)
			say(&cli->out, PAINT_PLAIN, "%10" PRId64 " %s\n",
				verification->parts[part].checked, verification_part_unit(part));
	if (cli->store && !(verification->key && verification->second))
		say(&cli->out, PAINT_DIM,
			"a copy is held against itself alone: who made all of it anew is found with "
			"--key and --checkpoints\n");
	if (verification->found)
		say(&cli->out, PAINT_RED, "%" PRId64 " problems\n", verification->found);
	else
		say(&cli->out, PAINT_GREEN, "nobody has touched it\n");
	return status;
}

static int run(struct cli *cli, const void *given)
{
	struct verification verification;
	int status;

	verification_init(&verification, cli);
	status = read_options(&verification, given);
	if (status == 0)
		status = verification_run(&verification);
	if (status == 0)
		status = tell(&verification);
	verification_done(&verification);
	return status;
}

const struct command audit_verify_command = {
	.name = "audit verify",
	.operands = "",
	.summary = "has anybody touched the record?",
	.about =
		"For administrators. Walks the chain of digests over all that was recorded, looks "
		"at every record, content and derived table behind it, and at the signed "
		"checkpoints, and says what was changed, taken out, put in or moved, and where. The "
		"daemon goes on meanwhile. With --store it looks at a copy, without a daemon.\n\n"
		"Exits with 0 when nothing was found, and with 1 when something was.",
	.options = rows,
	.options_size = sizeof(struct verify_options),
	.examples = examples,
	.reads_copy = true,
	.run = run,
};
