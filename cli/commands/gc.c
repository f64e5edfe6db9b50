/* cectl gc: contents of old runs leave the store. */
#include <inttypes.h>
#include <string.h>

#include "cli/base/exits.h"
#include "cli/base/option_values.h"
#include "cli/base/units.h"
#include "cli/commands/commands.h"
#include "cli/session/page.h"

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

static void gc_show(struct cli *cli, const struct value *result)
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
		say(&cli->out, PAINT_DIM,
			"more leaves with a shorter --older-than, or with --keep-runs or --keep-size\n");
		return;
	}
	say(&cli->out, PAINT_PLAIN, "contents of %" PRId64 " runs %s, %s%s%s\n", runs,
		dry ? "would leave" : "have left", bytes, until[0] ? ", up to run " : "", until);
	say(&cli->out, PAINT_PLAIN, "the store uses %s; what they were, and the digests, stay%s\n",
		used, dry ? "" : ": cectl acts");
}

// clang-format off
const struct command gc_command = {
	.name = "gc",
	.summary = "remove the contents of old runs from the store",
	.about = "For administrators. Removes what ended runs have read and written: code, "
		 "inputs, streams, artifacts, excerpts, and blobs that no other run uses. The "
		 "facts of the runs stay (who, when, digests, policy, limits, outcome, times), "
		 "and the chain still verifies. A run is removed when any of --older-than, "
		 "--keep-runs and --keep-size selects it. Without these options, the settings "
		 "keep_days, keep_runs and keep_bytes apply.\n\n"
		 "The work is done in small pieces, so that runs do not wait, and each piece is "
		 "recorded as an act. Only a backup brings the contents back.",
	.options = OPTIONS(
		{ 0, "older-than", "TIME", OPTION_TEXT, "older_than_s", option_age,
			"of runs from before: 90d, 12h, 2026-11-20" },
		{ 0, "keep-runs", "N", OPTION_TEXT, "keep_runs", option_positive,
			"of all but the newest N" },
		{ 0, "keep-size", "SIZE", OPTION_TEXT, "keep_bytes", option_size,
			"of the oldest, until the store uses no more than that: 10G" },
		{ 0, "reason", "TEXT", OPTION_TEXT, "reason", NULL, "why, for the record" },
		{ 0, "dry-run", NULL, OPTION_FLAG, "dry_run", NULL, "only says what would leave" }),
	.examples = EXAMPLES(
		{ "cectl gc --older-than 90d --dry-run", "what would that free?" },
		{ "cectl gc --older-than 90d --reason 'policy 7'", "do it" },
		{ "cectl gc", "now what the settings do now and then" }),
	.method = "admin.gc",
	.takes_long = true, /* others come first there */
	.status = status_of,
	.show = gc_show,
};
// clang-format on
