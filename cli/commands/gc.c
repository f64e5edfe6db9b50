/* cectl gc: contents of old runs leave the store. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "cli/base/exits.h"
#include "cli/base/times.h"
#include "cli/base/units.h"
#include "cli/commands/commands.h"
#include "cli/session/page.h"
#include "proto/base/clock.h"
#include "proto/fill.h"

struct gc_options {
	const char *older_than;
	const char *keep_runs;
	const char *keep_size;
	const char *reason;
	bool dry_run;
};

// clang-format off
static const struct option_row rows[] = {
	{ 0, "older-than", "TIME", OPTION_TEXT, offsetof(struct gc_options, older_than),
		"of runs from before: 90d, 12h, 2026-11-20" },
	{ 0, "keep-runs", "N", OPTION_TEXT, offsetof(struct gc_options, keep_runs),
		"of all but the newest N" },
	{ 0, "keep-size", "SIZE", OPTION_TEXT, offsetof(struct gc_options, keep_size),
		"of the oldest, until the store uses no more than that: 10G" },
	{ 0, "reason", "TEXT", OPTION_TEXT, offsetof(struct gc_options, reason),
		"why, for the record" },
	{ 0, "dry-run", NULL, OPTION_FLAG, offsetof(struct gc_options, dry_run),
		"only says what would leave" },
	{ 0, NULL, NULL, OPTION_FLAG, 0, NULL },
};

static const struct example examples[] = {
	{ "cectl gc --older-than 90d --dry-run", "what would that free?" },
	{ "cectl gc --older-than 90d --reason 'policy 7'", "do it" },
	{ "cectl gc", "now what the settings do now and then" },
	{ NULL, NULL },
};
// clang-format on

static int put_age(struct cli *cli, struct fill *params, const char *text)
{
	int64_t now_us = clock_wall_us();
	int64_t then_us = 0;
	struct err err = ERR_INIT;

	if (!text)
		return 0;
	if (times_parse(text, now_us, &then_us, &err) < 0)
		return cli_usage(cli, "--older-than: %s", err.text);
	if (then_us > now_us)
		return cli_usage(cli, "--older-than: that is yet to come");
	fill_int(params, "older_than_s", (now_us - then_us) / 1000000);
	return 0;
}

static int put_number(struct cli *cli, struct fill *params, const char *option, const char *key,
	const char *text, int (*parse)(const char *, uint64_t *, struct err *))
{
	uint64_t number = 0;
	struct err err = ERR_INIT;

	if (!text)
		return 0;
	if (parse(text, &number, &err) < 0)
		return cli_usage(cli, "%s: %s", option, err.text);
	if (number == 0)
		return cli_usage(cli, "%s: at least 1", option);
	fill_uint(params, key, number);
	return 0;
}

/* A slip here erases contents for good, so that 10 must not mean 10 bytes. */
static int parse_size(const char *text, uint64_t *ret_bytes, struct err *err)
{
	if (text[0] && text[strspn(text, "0123456789.")] == '\0')
		return err_set(err, ERR_INVALID, "\"%s\" has no unit: write %sk, %sm or %sg", text,
			text, text, text);
	return units_parse_bytes(text, ret_bytes, err);
}

static int make_params(struct cli *cli, const struct gc_options *options, struct value **ret_params)
{
	struct fill params = fill_start(&cli->arena);
	int status = put_age(cli, &params, options->older_than);

	if (status == 0)
		status = put_number(cli, &params, "--keep-runs", "keep_runs", options->keep_runs,
			units_parse_count);
	if (status == 0)
		status = put_number(
			cli, &params, "--keep-size", "keep_bytes", options->keep_size, parse_size);
	if (status != 0)
		return status;
	if (options->dry_run)
		fill_bool(&params, "dry_run", true);
	fill_optional_text(&params, "reason", options->reason);
	*ret_params = fill_done(&params);
	return *ret_params ? 0 : cli_no_memory(cli);
}

static int status_of(const struct value *result)
{
	return value_get(result, "left_behind") ? EXIT_FAILED : EXIT_OK;
}

static void show_left_behind(struct cli *cli, const struct value *behind)
{
	const struct value *names = value_get(behind, "names");

	if (!behind)
		return;
	say(&cli->out, PAINT_PLAIN, "contents of %" PRId64 " runs cannot be removed: %s\n",
		page_int(behind, "runs"), page_text(cli, behind, "why"));
	for (size_t i = 0; value_is(value_at(names, i), VALUE_TEXT); i++) {
		const char *name = value_as_text(value_at(names, i));

		page_line(cli, name, strlen(name), 2, PAINT_PLAIN);
	}
}

static int gc_show(struct cli *cli, const struct value *result)
{
	bool dry = value_as_bool(value_get(result, "dry_run"), false);
	const char *until = page_text(cli, result, "until");
	int64_t runs = page_int(result, "runs");
	char bytes[UNITS_TEXT_MAX];
	char used[UNITS_TEXT_MAX];

	units_print_bytes(bytes, page_int(result, "bytes"));
	units_print_bytes(used, page_int(result, "used_bytes"));
	show_left_behind(cli, value_get(result, "left_behind"));
	if (!runs) {
		say(&cli->out, PAINT_PLAIN, "nothing is to leave; the store uses %s\n", used);
		return status_of(result);
	}
	say(&cli->out, PAINT_PLAIN, "contents of %" PRId64 " runs %s, %s%s%s\n", runs,
		dry ? "would leave" : "have left", bytes, until[0] ? ", up to run " : "", until);
	say(&cli->out, PAINT_PLAIN, "the store uses %s; what they were, and the digests, stay%s\n",
		used, dry ? "" : ": cectl acts");
	return status_of(result);
}

static int gc_run(struct cli *cli, const void *given)
{
	const struct client_watch watch = { .timeout_ms = 0 }; /* others come first there */
	const struct value *result = NULL;
	struct value *params = NULL;
	int status = make_params(cli, given, &params);

	if (status == 0)
		status = cli_ask(cli, "admin.gc", params, &watch, &result);
	if (status != 0)
		return status;
	return cli->json ? cli_document(cli, result, status_of(result)) : gc_show(cli, result);
}

const struct command gc_command = {
	.name = "gc",
	.operands = "",
	.summary = "remove the contents of old runs from the store",
	.about = "For administrators. Removes what ended runs have read and written: code, "
		 "inputs, streams, artifacts, excerpts, and blobs that no other run uses. The "
		 "facts of the runs stay (who, when, digests, policy, limits, outcome, times), "
		 "and the chain still verifies. A run is removed when any of --older-than, "
		 "--keep-runs and --keep-size selects it. Without these options, the settings "
		 "keep_days, keep_runs and keep_bytes apply.\n\n"
		 "The work is done in small pieces, so that runs do not wait, and each piece is "
		 "recorded as an act. Only a backup brings the contents back.",
	.options = rows,
	.options_size = sizeof(struct gc_options),
	.examples = examples,
	.run = gc_run,
};
