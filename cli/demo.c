#include "cli/demo.h"

#include <inttypes.h>
#include <string.h>

#include "cli/page.h"
#include "cli/table.h"
#include "cli/units.h"
#include "proto/base/container.h"
#include "proto/base/embedded.h"

#define FLOOD_BYTES  65536
#define MEMORY_BYTES (INT64_C(64) << 20)

extern const struct embedded demo_files[];

struct value *demo_file(struct cli *cli, const char *name)
{
	for (const struct embedded *file = demo_files; file->name; file++) {
		if (strcmp(file->name, name) == 0)
			return value_text_len(&cli->arena, (const char *)file->bytes, file->len);
	}
	return NULL;
}

static const char *number_of(struct cli *cli, const struct value *map, const char *key)
{
	return page_number(cli, key, value_get(map, key));
}

/* ---- 1: an answer that can be relied on ----------------------------------------------------- */

static void tell_services(struct cli *cli, const struct value *services, const char *worst)
{
	static const struct table_column columns[] = {
		{ "SERVICE", false, false, 0 },
		{ "TRANSACTIONS", true, false, 0 },
		{ "FAILED", true, false, 0 },
		{ "p95", true, false, 0 },
	};
	struct table table;

	table_init(&table, &cli->arena, columns, COUNT_OF(columns));
	for (size_t i = 0; value_at(services, i); i++) {
		const struct value *service = value_at(services, i);
		const char *name = page_text(cli, service, "service");
		enum paint paint = strcmp(name, worst) == 0 ? PAINT_RED : PAINT_PLAIN;

		const struct table_cell cells[] = {
			{ name, paint },
			{ page_text(cli, service, "transactions"), PAINT_PLAIN },
			{ page_text(cli, service, "failed"), paint },
			{ number_of(cli, service, "p95_ms"), PAINT_PLAIN },
		};

		table_add(&table, cells);
	}
	table_print(&table, &cli->out, 2);
}

/* Every word of the brief comes from the checked JSON, by way of the schema's own keys. */
static int tell_brief(struct cli *cli, const struct act *act, const struct value *result)
{
	const struct value *value = value_get(result, "value");
	const struct value *incident = value_get(value, "incident");
	int64_t transactions = page_int(value, "transactions");
	int64_t unpaid = page_int(incident, "unpaid_cents");

	(void)act;
	if (transactions <= 0 || !value_is(incident, VALUE_MAP))
		return -1;
	page_wrapped(cli, PAINT_PLAIN,
		arena_printf(&cli->arena,
			"%" PRId64 " transactions from %s to %s; %" PRId64
			" failed (%.1f %%).  It was %s, "
			"from %s to %s: %s of %s failed, the slowest took %s, %" PRId64
			".%02" PRId64 " went unpaid.",
			transactions, page_text(cli, value, "from"), page_text(cli, value, "to"),
			page_int(value, "failed"),
			100.0 * (double)page_int(value, "failed") / (double)transactions,
			page_text(cli, incident, "service"), page_text(cli, incident, "from"),
			page_text(cli, incident, "to"), page_text(cli, incident, "failed"),
			page_text(cli, incident, "transactions"),
			number_of(cli, incident, "slowest_ms"), unpaid / 100, unpaid % 100),
		2);
	say(&cli->out, PAINT_PLAIN, "\n");
	tell_services(cli, value_get(value, "services"), page_text(cli, incident, "service"));
	return 0;
}

/* ---- 2: refused ----------------------------------------------------------------------------- */

static int tell_denied(struct cli *cli, const struct act *act, const struct value *result)
{
	const struct value *findings = value_get(value_get(result, "policy"), "findings");
	const struct page_marks marks = { findings, 0 };

	if (!value_at(findings, 0) || strcmp(page_text(cli, result, "ran"), "no") != 0)
		return -1;
	page_findings(cli, findings);
	say(&cli->out, PAINT_PLAIN, "\n");
	page_code(cli, demo_file(cli, act->program), &marks, true);
	return 0;
}

/* ---- 3: flooding ---------------------------------------------------------------------------- */

static int64_t text_len(const struct value *value)
{
	bool is_text = value_is(value, VALUE_TEXT) || value_is(value, VALUE_BYTES);

	return is_text ? (int64_t)value->text.len : -1;
}

static int tell_flood(struct cli *cli, const struct act *act, const struct value *result)
{
	const struct value *evidence = value_get(result, "evidence");
	int64_t kept = text_len(value_get(result, "stdout"));
	char text[UNITS_TEXT_MAX];

	if (kept != act->limit_value || !value_get(evidence, "kill_us"))
		return -1;
	units_print_count(text, kept);
	page_field(cli, "kept", arena_printf(&cli->arena, "%s bytes, exactly the limit", text));
	page_field(cli, "killed",
		arena_printf(&cli->arena, "%s after the byte that passed it",
			number_of(cli, evidence, "kill_us")));
	if (value_get(evidence, "gone_us"))
		page_field(cli, "gone",
			arena_printf(
				&cli->arena, "%s after that", number_of(cli, evidence, "gone_us")));
	return 0;
}

/* ---- 4: memory ------------------------------------------------------------------------------ */

static int tell_memory(struct cli *cli, const struct act *act, const struct value *result)
{
	const struct value *evidence = value_get(result, "evidence");
	const struct value *held_by = value_get(value_get(result, "limits"), "enforced_by");

	if (page_int(evidence, "limit_bytes") != act->limit_value)
		return -1;
	page_field(cli, "limit",
		arena_printf(&cli->arena, "%s, held by %s", number_of(cli, evidence, "limit_bytes"),
			page_text(cli, held_by, "memory_bytes")));
	if (value_get(evidence, "peak_bytes"))
		page_field(cli, "peak", number_of(cli, evidence, "peak_bytes"));
	if (value_get(evidence, "oom_kills"))
		page_field(cli, "kernel",
			arena_printf(&cli->arena, "out-of-memory kills: %s",
				page_text(cli, evidence, "oom_kills")));
	return 0;
}

const struct act demo_acts[] = {
	{
		.title = "an answer to rely on",
		.story =
			"An agent asks what 60 transactions say about an incident.  Its program gets "
			"them as input, and what it prints must be JSON that satisfies a schema.",
		.command = "cectl run incidents.py --input @transactions.json \\\n"
			   "      --schema brief.schema.json",
		.program = "incidents.py",
		.input = "transactions.json",
		.schema = "brief.schema.json",
		.outcome = "ok",
		.tell = tell_brief,
	},
	{
		.title = "a program that may not run",
		.story = "This one would send customers' data away.  The policy reads it first.",
		.command = "cectl run leak.py --policy strict",
		.program = "leak.py",
		.policy = "strict",
		.outcome = "policy_denied",
		.tell = tell_denied,
	},
	{
		.title = "a program that floods",
		.story =
			"It prints without end.  The limit is 64 KiB, and it is the daemon's end of "
			"the pipe that counts.",
		.command = "cectl run flood.py --limit stdout=64K",
		.program = "flood.py",
		.shows_code = true,
		.limit = "stdout_bytes",
		.limit_value = FLOOD_BYTES,
		.outcome = "output_limit",
		.tell = tell_flood,
	},
	{
		.title = "a program that eats memory",
		.story = "It takes a megabyte more, for ever.  The limit is 64 MiB.",
		.command = "cectl run memory.py --limit memory=64M",
		.program = "memory.py",
		.shows_code = true,
		.limit = "memory_bytes",
		.limit_value = MEMORY_BYTES,
		.outcome = "memory_limit",
		.tell = tell_memory,
	},
};

const size_t demo_act_count = COUNT_OF(demo_acts);
