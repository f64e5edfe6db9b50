/* cectl packages digest, verify and list: the sets of this host, and what their folders hold. */
#include "cli/commands/packages.h"

#include <string.h>

#include "cli/base/exits.h"
#include "cli/base/units.h"
#include "cli/commands/commands.h"
#include "cli/session/page.h"
#include "cli/terminal/progress.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"
#include "proto/fill.h"

/* ---- reading a folder ----------------------------------------------------------------------- */

struct reading {
	struct progress progress;
	int64_t started_ms, shown_ms;
};

#define SHOW_EVERY_MS 500

static int on_progress(const struct package_scan *scan)
{
	struct reading *reading = scan->context;
	int64_t now_ms = clock_ms();

	if (now_ms - reading->shown_ms >= SHOW_EVERY_MS) {
		reading->shown_ms = now_ms;
		progress_update(&reading->progress, now_ms - reading->started_ms);
	}
	return 0;
}

int packages_read(
	struct cli *cli, const char *path, struct package_found *ret_found, struct err *err)
{
	struct reading reading = {
		.progress = { .out = &cli->err, .what = "reading", .ctrl_c = "ends it" },
		.started_ms = clock_ms()
	};
	struct package_scan scan = PACKAGE_SCAN_USUAL;
	int result;

	scan.on_progress = on_progress;
	scan.context = &reading;
	result = package_digest(path, &scan, ret_found->digest, err);
	progress_erase(&reading.progress);
	ret_found->entries = scan.entries;
	ret_found->bytes = scan.bytes;
	return result;
}

const char *packages_size(struct cli *cli, const struct package_found *found)
{
	char entries[UNITS_TEXT_MAX];
	char bytes[UNITS_TEXT_MAX];
	const char *text;

	units_print_count(entries, (int64_t)found->entries);
	units_print_bytes(bytes, (int64_t)found->bytes);
	text = arena_printf(&cli->arena, "%s files and folders, %s", entries, bytes);
	return text ? text : "";
}

/* ---- digest --------------------------------------------------------------------------------- */

static int digest_run(struct cli *cli)
{
	const char *path = cli_operand(cli, 0);
	struct fill fill = fill_start(&cli->arena);
	struct package_found found;
	struct err err = ERR_INIT;

	if (packages_read(cli, path, &found, &err) < 0) {
		(void)err_wrap(&err, "%s cannot be a package set", output_safe(&cli->arena, path));
		return cli_fail(cli, &err);
	}
	if (cli->json) {
		fill_text(&fill, "path", path);
		fill_text(&fill, "digest", found.digest);
		fill_uint(&fill, "entries", found.entries);
		fill_uint(&fill, "bytes", found.bytes);
		return cli_document(cli, fill_done(&fill), EXIT_OK);
	}
	say(&cli->out, PAINT_PLAIN, "%s\n", found.digest);
	return EXIT_OK;
}

// clang-format off
const struct command packages_digest_command = {
	.name = "packages digest",
	.operands = "PATH",
	.summary = "what a folder's packages have as their digest",
	.about = "Reads every file below PATH and prints the digest for the setting `digest` of a "
		 "section `packages`. It covers each file's path, mode, size and content, and the "
		 "targets of links; a copy of the folder has the same digest.\n\n"
		 "A set has only folders, files, and links that stay inside it. All of it is "
		 "readable for all, and nothing is setuid or setgid; else it cannot be a set.",
	.operand_least = 1, .operand_most = 1,
	.examples = EXAMPLES(
		{ "cectl packages digest /srv/ced/sets/data2024", "sha256:..., for ced.conf" }),
	.run = digest_run,
};
// clang-format on

/* ---- what the daemon says ------------------------------------------------------------------- */

/* For everyone else the sets are those of each runtime, without their folders. */
static struct value *sets_of_runtimes(struct cli *cli, const struct value *runtimes)
{
	struct value *list = value_list(&cli->arena);

	for (size_t i = 0; value_at(runtimes, i); i++) {
		const struct value *runtime = value_at(runtimes, i);
		const struct value *sets = value_get(runtime, "packages");

		for (size_t k = 0; value_at(sets, k); k++) {
			const struct value *set = value_at(sets, k);
			struct fill fill = fill_start(&cli->arena);

			for (size_t n = 0; n < set->map.count; n++)
				fill_shared(
					&fill, set->map.entries[n].key, set->map.entries[n].value);
			fill_shared(&fill, "runtime", value_get(runtime, "name"));
			value_list_add(&cli->arena, list, fill_done(&fill));
		}
	}
	return list;
}

/* 0, or the exit status after reporting the reason. */
static int ask_sets(struct cli *cli, bool needs_paths, const struct value **ret_sets)
{
	struct value *params = value_map(&cli->arena);
	const struct value *answer = NULL;
	struct err err = ERR_INIT;
	int status = cli_ask_quietly(cli, "admin.status", params, NULL, &answer, &err);

	if (status == 0) {
		const struct value *sets = value_get(answer, "packages");

		*ret_sets = sets ? sets : value_list(&cli->arena);
		return 0;
	}
	if (status < 0 || needs_paths)
		return cli_ask_failed(cli, status, answer, &err);
	status = cli_ask(cli, "runtimes", params, NULL, &answer);
	if (status == 0)
		*ret_sets = sets_of_runtimes(cli, value_get(answer, "runtimes"));
	return status;
}

/* ---- list ----------------------------------------------------------------------------------- */

static enum paint state_paint(const char *text)
{
	return strcmp(text, "ready") == 0 ? PAINT_GREEN
	       : strcmp(text, "off") == 0 ? PAINT_RED
					  : PAINT_YELLOW;
}

// clang-format off
static const struct page_column columns[] = {
	{ { "NAME",    false, false, 0 }, "name",    PAINT_BOLD,  NULL, NULL },
	{ { "RUNTIME", false, false, 0 }, "runtime", PAINT_PLAIN, NULL, NULL },
	{ { "STATE",   false, false, 0 }, "state",   PAINT_PLAIN, NULL, state_paint },
	{ { "PATH",    false, true,  2 }, "path",    PAINT_PLAIN, NULL, NULL },
	{ { "DIGEST",  false, true,  3 }, "digest",  PAINT_DIM,   NULL, NULL },
};
// clang-format on

static int say_none(struct cli *cli)
{
	say(&cli->out, PAINT_PLAIN, "this host has no package sets: cectl packages add\n");
	return EXIT_OK;
}

static int list_run(struct cli *cli)
{
	const struct value *sets = NULL;
	int status = ask_sets(cli, false, &sets);

	if (status != 0)
		return status;
	if (cli->json) {
		struct fill fill = fill_start(&cli->arena);

		fill_shared(&fill, "packages", sets);
		return cli_document(cli, fill_done(&fill), EXIT_OK);
	}
	if (!value_at(sets, 0))
		return say_none(cli);
	page_table(cli, columns, COUNT_OF(columns), sets, 0);
	for (size_t i = 0; value_at(sets, i); i++) {
		const char *why = page_text(cli, value_at(sets, i), "why");

		if (why[0])
			say(&cli->out, PAINT_RED, "%s %s: %s\n", output_mark(&cli->out, MARK_BAD),
				page_text(cli, value_at(sets, i), "name"), why);
	}
	return EXIT_OK;
}

// clang-format off
const struct command packages_list_command = {
	.name = "packages list",
	.summary = "the package sets that runs can use",
	.about = "Lists the package sets of the host: the runtime that each is for, its digest, "
		 "and its state. A set is `checking` until the daemon has read its files after the "
		 "start, then `ready`, or `off` with the reason. Administrators see the folders, too.",
	.examples = EXAMPLES(
		{ "cectl packages list", "what can be named with --packages" },
		{ "cectl packages list --json | jq -r '.packages[] | select(.state == \"off\").why'", "what is wrong" }),
	.run = list_run,
};
// clang-format on

/* ---- verify --------------------------------------------------------------------------------- */

/* What the daemon does with a set whose files are not those of its settings, and what helps. */
static void say_what_now(struct cli *cli, const struct value *set)
{
	const char *state = page_text(cli, set, "state");

	say(&cli->out, PAINT_PLAIN, "  %s.  ",
		strcmp(state, "off") == 0 ? "the daemon refuses runs that name it"
		: strcmp(state, "ready") == 0
			? "the daemon has not seen this: runs still use the set, until the daemon "
			  "is restarted"
			: "the daemon is reading it, and then refuses runs that name it");
	say(&cli->out, PAINT_PLAIN, "Build another set with cectl packages add\n");
}

/* Returns what was found of one set; *ret_same says whether it is what the daemon's settings say. */
static struct value *verify_set(struct cli *cli, const struct value *set, bool *ret_same)
{
	const char *path = value_as_text(value_get(set, "path"));
	const char *digest = value_as_text(value_get(set, "digest"));
	struct fill fill = fill_start(&cli->arena);
	struct package_found found = { .entries = 0 };
	struct err err = ERR_INIT;
	bool read = packages_read(cli, path ? path : "", &found, &err) == 0;

	*ret_same = read && digest && strcmp(found.digest, digest) == 0;
	fill_shared(&fill, "name", value_get(set, "name"));
	fill_shared(&fill, "path", value_get(set, "path"));
	fill_shared(&fill, "digest", value_get(set, "digest"));
	fill_value(&fill, "found", value_text(&cli->arena, read ? found.digest : NULL));
	fill_bool(&fill, "same", *ret_same);
	fill_value(&fill, "why", value_text(&cli->arena, read ? NULL : err.text));
	fill_uint(&fill, "entries", found.entries);
	fill_uint(&fill, "bytes", found.bytes);
	if (cli->json)
		return fill_done(&fill);
	say(&cli->out, *ret_same ? PAINT_GREEN : PAINT_RED, "%s",
		output_mark(&cli->out, *ret_same ? MARK_GOOD : MARK_BAD));
	say(&cli->out, PAINT_PLAIN, " %s  %s  %s\n", page_text(cli, set, "name"),
		page_text(cli, set, "path"),
		*ret_same ? packages_size(cli, &found)
		: read    ? arena_printf(&cli->arena, "has changed: %s", found.digest)
			  : output_safe(&cli->arena, err.text));
	if (!*ret_same)
		say_what_now(cli, set);
	return fill_done(&fill);
}

static int no_such_set(struct cli *cli, const char *name)
{
	return cli_fail_with(cli, ERR_MISSING,
		"there is no package set \"%s\": cectl packages list shows them", name);
}

static int verify_run(struct cli *cli)
{
	const char *name = cli_operand(cli, 0);
	const struct value *sets = NULL;
	struct value *list = value_list(&cli->arena);
	struct fill fill = fill_start(&cli->arena);
	int status = ask_sets(cli, true, &sets);
	bool all_same = true;

	for (size_t i = 0; status == 0 && value_at(sets, i); i++) {
		const struct value *set = value_at(sets, i);
		const char *of = value_as_text(value_get(set, "name"));
		bool same = false;

		if (name && (!of || strcmp(of, name) != 0))
			continue;
		value_list_add(&cli->arena, list, verify_set(cli, set, &same));
		all_same = all_same && same;
	}
	if (status != 0)
		return status;
	if (name && !value_at(list, 0))
		return no_such_set(cli, name);
	if (!value_at(list, 0) && !cli->json)
		return say_none(cli);
	status = all_same ? EXIT_OK : EXIT_FAILED;
	if (!cli->json)
		return status;
	fill_bool(&fill, "same", all_same);
	fill_value(&fill, "packages", list);
	return cli_document(cli, fill_done(&fill), status);
}

// clang-format off
const struct command packages_verify_command = {
	.name = "packages verify",
	.operands = "[NAME]",
	.summary = "read the files of package sets and compare their digests",
	.about = "For administrators. Asks the daemon where its package sets are, reads their files "
		 "now, and compares each digest with the setting. Exits with 1 if one has changed or "
		 "cannot be read. It changes nothing in the daemon, which itself does this when it "
		 "starts, and every packages_check_ms; until then runs use a set that has changed.",
	.operand_most = 1,
	.examples = EXAMPLES(
		{ "cectl packages verify", "all of them" },
		{ "cectl packages verify data2024 --json | jq .same", "true or false" }),
	.run = verify_run,
};
// clang-format on
