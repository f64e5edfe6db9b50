/* cectl status: the state of the daemon, and an explanation of its words. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/base/exits.h"
#include "cli/base/options.h"
#include "cli/base/safe.h"
#include "cli/base/times.h"
#include "cli/base/units.h"
#include "cli/commands/commands.h"
#include "cli/session/page.h"
#include "proto/base/container.h"
#include "proto/store_room.h"

#define WORDS_INDENT 19 /* the longest word, and a space */
#define WIDTH        80

/* In the order in which status shows them. */
static const struct {
	const char *word;
	const char *meaning;
} words[] = {
	{ "runtimes", "one line for each: its workers, and its runs since the start" },
	{ "  warm", "workers that wait for a program" },
	{ "  making", "workers that are being made" },
	{ "  running", "workers that run a program" },
	{ "  ending", "workers whose program has ended, and that are being removed" },
	{ "  wanted", "workers that are to be warm; it grows and shrinks with the demand" },
	{ "  runs, waited", "programs it has run, and how many of them found no warm worker" },
	{ "limits for", "limits that a runtime, policy, user or group has of its own" },
	{ "roles", "users and groups that the settings name for each role" },
	{ "ready", "true since a first worker was warm and the policy's rules were loaded" },
	{ "mode", "root, or user: a private daemon without root's rights" },
	{ "socket", "where clients connect, and how often its file was gone and was made again" },
	{ "connections", "clients that are connected" },
	{ "held", "memory that requests and replies take" },
	{ "in progress", "runs between arrival and answer" },
	{ "queued", "those of them that wait for a worker" },
	{ "parked", "runs that wait until a person approves them" },
	{ "sessions", "sessions that are open (cectl session list)" },
	{ "subscriptions", "clients that receive events (cectl watch, cectl top)" },
	{ "messages", "messages that the log and the journal did not take, and that were dropped" },
	{ "inspectors", "the processes that read programs for the policy" },
	{ "  alive, ready", "how many there are, and how many of them have the rules" },
	{ "  waiting", "programs that wait for one" },
	{ "  answered", "programs that were read since the start" },
	{ "  late, lost", "of these, read for too long, and cut short by the end of an inspector" },
	{ "  remembered", "verdicts that are known and need no inspector" },
	{ "  hits, misses", "how often a verdict was known, and how often it was not" },
	{ "outcomes", "how the runs since the start have ended" },
	{ "commits, records",
		"transactions and records written since the start; many records in one "
		"commit are a sign of load" },
	{ "trouble", "why nothing can be recorded just now; no run is taken meanwhile" },
	{ "log held",
		"who keeps the store's log from being emptied, how long it is, and at which length runs "
		"are refused" },
	{ "check", "the last look at every page of the store, with the damages it found" },
	{ "host", "what holds memory, processes and cpu time here, and what is missing" },
	{ "store", "the record on the disk" },
	{ "  unsettled",
		"runs whose words and counts are still to be indexed; it goes down by itself" },
	{ "  wal", "size of the write-ahead log" },
	{ "  free", "room on the disk of the store; runs are refused below 1 MiB" },
	{ "  schema", "the version of the tables" },
	{ "alerts", "rules for alerts in the settings, and how often one was raised" },
	{ "gc", "removal of old contents: whether it is busy, how often it ran, what it freed" },
	{ "clock",
		"how often the wall clock was set since the start, and by how much the last time" },
	{ "reload",
		"when settings were read again, why that was refused, and what waits for a restart" },
	{ "audit",
		"the key of signed checkpoints, the second file that they are written to, and how "
		"many records the last one since the start signs (links)" },
};

static int status_words_help(struct buf *out)
{
	if (buf_append_text(out, "\nWords:\n") < 0)
		return -1;
	for (size_t i = 0; i < COUNT_OF(words); i++) {
		size_t start = out->len;

		if (buf_printf(out, "  %s", words[i].word) < 0 ||
			options_wrap(words[i].meaning, WORDS_INDENT, out->len - start, WIDTH, out) <
				0)
			return -1;
	}
	return 0;
}

#define NAME_COLUMNS 13
#define INDENT       (2 + NAME_COLUMNS + 1)

/* The alarm about the record; "": none. */
static const char *alarm_of(struct cli *cli, const struct value *status)
{
	return page_text(cli, value_get(status, "audit"), "alarm");
}

static void show_head(struct cli *cli, const struct value *status)
{
	int64_t uptime_s = value_as_int(value_get(status, "uptime_s"), 0);
	bool draining = value_as_bool(value_get(status, "draining"), false);
	bool ails = page_text(cli, status, "trouble")[0] || alarm_of(cli, status)[0];
	enum paint paint = draining ? PAINT_YELLOW : PAINT_GREEN;
	enum mark mark = draining ? MARK_DOT : MARK_GOOD;
	char uptime[UNITS_TEXT_MAX];

	if (uptime_s < 60)
		cut_printf(uptime, sizeof(uptime), "%" PRId64 " s", uptime_s);
	else
		units_print_us(uptime, uptime_s * 1000000);
	say(&cli->out, ails ? PAINT_RED : paint, "%s ced %s",
		output_mark(&cli->out, ails ? MARK_BAD : mark),
		output_text(&cli->arena, value_get(status, "version")));
	say(&cli->out, PAINT_PLAIN, "  pid %s, up %s%s\n",
		output_text(&cli->arena, value_get(status, "pid")), uptime,
		draining ? ", draining: takes no new work" : "");
}

/* Something to say, on a line; what nests is for --json. */
static bool is_plain(const struct value *value)
{
	if (value_is(value, VALUE_TEXT))
		return value->text.len > 0;
	return !value_is(value, VALUE_MAP) && !value_is(value, VALUE_LIST) &&
	       !value_is(value, VALUE_NIL);
}

/* A number with its unit; under these names it is a moment. */
static const char *figure(struct cli *cli, const char *key, const struct value *value)
{
	char when[TIMES_TEXT_MAX];

	if (strcmp(key, "at_us") != 0 && strcmp(key, "last_us") != 0)
		return page_number(cli, key, value);
	times_print(when, value_as_int(value, 0));
	return output_safe(&cli->arena, when);
}

/* ---- figures in a row ---------------------------------------------------------------------- */

/* "  name          key value, key value", which goes on below where the terminal ends. */
struct row {
	struct cli *cli;
	const char *gap; /* between two of them */
	size_t column;
	bool begun;
};

static struct row row_start(struct cli *cli, const char *name, const char *gap)
{
	say(&cli->out, PAINT_DIM, "  %-*s ", NAME_COLUMNS, name);
	return (struct row){ .cli = cli, .gap = gap, .column = INDENT };
}

static void row_gap(struct row *row, size_t columns)
{
	const struct output *out = &row->cli->out;
	size_t gap = strlen(row->gap);
	size_t comma = strcspn(row->gap, " "); /* also at the end of a line */

	if (!row->begun)
		return;
	if (out->width == 0 || row->column + gap + columns + comma <= out->width) {
		say(out, PAINT_PLAIN, "%s", row->gap);
		row->column += gap;
		return;
	}
	say(out, PAINT_PLAIN, "%.*s\n%*s", (int)comma, row->gap, INDENT, "");
	row->column = INDENT;
}

static void row_add(struct row *row, const char *name, const char *text)
{
	size_t columns = safe_columns(name, strlen(name)) + safe_columns(text, strlen(text)) + 1;

	row_gap(row, columns);
	if (name[0])
		say(&row->cli->out, PAINT_PLAIN, "%s ", name);
	say(&row->cli->out, PAINT_BOLD, "%s", text);
	row->column += columns;
	row->begun = true;
}

static bool has_plain(const struct value *map)
{
	for (size_t i = 0; value_is(map, VALUE_MAP) && i < map->map.count; i++) {
		if (is_plain(map->map.entries[i].value))
			return true;
	}
	return false;
}

/* The plain members of a map. */
static void show_members(struct cli *cli, const char *name, const struct value *map)
{
	struct row row;

	if (!has_plain(map))
		return;
	row = row_start(cli, name, ", ");
	for (size_t i = 0; i < map->map.count; i++) {
		const struct value_entry *entry = &map->map.entries[i];

		if (is_plain(entry->value))
			row_add(&row, page_name(cli, entry->key),
				figure(cli, entry->key, entry->value));
	}
	say(&cli->out, PAINT_PLAIN, "\n");
}

/* One runtime is a map with a name; its figures follow. */
static void show_runtimes(struct cli *cli, const struct value *runtimes)
{
	for (size_t i = 0; value_at(runtimes, i); i++) {
		const struct value *runtime = value_at(runtimes, i);
		struct row row = row_start(cli, i == 0 ? "runtimes" : "", "  ");

		row_add(&row, "", page_text(cli, runtime, "name"));
		for (size_t j = 0; value_is(runtime, VALUE_MAP) && j < runtime->map.count; j++) {
			const struct value_entry *entry = &runtime->map.entries[j];

			if (value_is(entry->value, VALUE_INT))
				row_add(&row, page_name(cli, entry->key),
					page_number(cli, entry->key, entry->value));
		}
		say(&cli->out, PAINT_PLAIN, "\n");
	}
}

/* "runtime python  wall 4 s (at most 8 s), pids at most 20" */
static void show_allowance(struct row *row, const struct value *allowance)
{
	struct cli *cli = row->cli;
	const struct value *limits = value_get(allowance, "limits");
	const struct value *most = value_get(allowance, "most");

	row_add(row, page_text(cli, allowance, "for"), page_text(cli, allowance, "name"));
	for (size_t i = 0; value_is(limits, VALUE_MAP) && i < limits->map.count; i++) {
		const struct value_entry *entry = &limits->map.entries[i];

		row_add(row, page_name(cli, entry->key),
			page_number(cli, entry->key, entry->value));
	}
	for (size_t i = 0; value_is(most, VALUE_MAP) && i < most->map.count; i++) {
		const struct value_entry *entry = &most->map.entries[i];
		const char *name =
			arena_printf(&cli->arena, "%s at most", page_name(cli, entry->key));

		row_add(row, name ? name : "", page_number(cli, entry->key, entry->value));
	}
	say(&cli->out, PAINT_PLAIN, "\n");
}

static void show_allowances(struct cli *cli, const struct value *allowances)
{
	for (size_t i = 0; value_at(allowances, i); i++) {
		struct row row = row_start(cli, i == 0 ? "limits for" : "", "  ");

		show_allowance(&row, value_at(allowances, i));
	}
}

static bool is_in_head(const char *key)
{
	static const char *const shown[] = { "version", "pid", "uptime_s", "draining", "drained",
		"runtimes", "trouble", "log_held", "reload" };

	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		if (strcmp(shown[i], key) == 0)
			return true;
	}
	return false;
}

/* Drain, block and other acts that are in force. */
static void show_admin_ops(struct cli *cli, const struct value *status)
{
	const struct value *blocked = value_get(status, "blocked");

	if (value_as_bool(value_get(status, "drained"), false))
		say(&cli->out, PAINT_YELLOW, "%s drained: takes no new runs until cectl resume\n",
			output_mark(&cli->out, MARK_DOT));
	for (size_t i = 0; value_at(blocked, i); i++) {
		const char *reason = page_text(cli, value_at(blocked, i), "reason");

		say(&cli->out, PAINT_YELLOW, "%s uid %s is blocked%s%s\n",
			output_mark(&cli->out, MARK_DOT),
			page_text(cli, value_at(blocked, i), "uid"), reason[0] ? ": " : "", reason);
	}
}

/* Whatever stops the daemon from working comes first. */
static void show_trouble(struct cli *cli, const struct value *status)
{
	const char *trouble = page_text(cli, status, "trouble");

	if (trouble[0])
		say(&cli->out, PAINT_RED, "%s %s\n", output_mark(&cli->out, MARK_BAD), trouble);
}

static void show_alarm(struct cli *cli, const struct value *status)
{
	const char *alarm = alarm_of(cli, status);

	if (alarm[0])
		say(&cli->out, PAINT_RED,
			"%s audit alarm: %s:\n  see \"Has anybody touched it?\" in docs/operations/record.md\n",
			output_mark(&cli->out, MARK_BAD), alarm);
}

/* The settings in force are not those of the files. */
static void show_reload(struct cli *cli, const struct value *status)
{
	const struct value *reload = value_get(status, "reload");
	const char *trouble = page_text(cli, reload, "trouble");
	const char *waits = page_list(cli, reload, "waits");

	if (trouble[0])
		say(&cli->out, PAINT_YELLOW,
			"%s the last reload was refused: %s\n  the settings before it are in force\n",
			output_mark(&cli->out, MARK_DOT), trouble);
	if (waits[0])
		say(&cli->out, PAINT_YELLOW, "%s changes that need a restart: %s\n",
			output_mark(&cli->out, MARK_DOT), waits);
}

/* Before it is trouble. */
static void show_room(struct cli *cli, const struct value *status)
{
	const struct value *found = value_get(value_get(status, "store"), "free_bytes");

	if (found && value_as_int(found, 0) < STORE_ROOM_NEAR)
		say(&cli->out, PAINT_YELLOW, "%s the store's disk is nearly full: %s free\n",
			output_mark(&cli->out, MARK_DOT), page_number(cli, "free_bytes", found));
}

/* Somebody keeps the log from being emptied, before that is trouble. */
static void show_log(struct cli *cli, const struct value *status)
{
	const struct value *held = value_get(status, "log_held");
	const char *command = page_text(cli, held, "command");

	if (!value_is(held, VALUE_MAP) || page_text(cli, status, "trouble")[0])
		return;
	say(&cli->out, PAINT_YELLOW,
		"%s the store's log is %s long and cannot be emptied: %s reads the\n"
		"  database in a transaction that stays open. At %s runs are refused%s%s\n",
		output_mark(&cli->out, MARK_DOT),
		page_number(cli, "bytes", value_get(held, "bytes")), page_text(cli, held, "by"),
		page_number(cli, "bytes", value_get(held, "most_bytes")), command[0] ? ": " : "",
		command);
}

/* The roles of the settings: "approver users 1002, admin groups 27". */
static void show_roles(struct cli *cli, const struct value *roles)
{
	static const char *const kinds[] = { "users", "groups" };
	struct row row = { 0 };

	for (size_t i = 0; value_is(roles, VALUE_MAP) && i < roles->map.count; i++) {
		const struct value_entry *role = &roles->map.entries[i];

		for (size_t kind = 0; kind < COUNT_OF(kinds); kind++) {
			const struct value *named = value_get(role->value, kinds[kind]);
			const char *name = arena_printf(
				&cli->arena, "%s %s", page_name(cli, role->key), kinds[kind]);

			if (!value_at(named, 0))
				continue;
			if (!row.begun)
				row = row_start(cli, "roles", ", ");
			row_add(&row, name ? name : "", output_text(&cli->arena, named));
		}
	}
	if (row.begun)
		say(&cli->out, PAINT_PLAIN, "\n");
}

static void show_field(const struct cli *cli, const char *name, const char *text)
{
	say(&cli->out, PAINT_DIM, "  %-*s ", NAME_COLUMNS, name);
	say(&cli->out, PAINT_PLAIN, "%s\n", text);
}

static void status_show(struct cli *cli, const struct value *status)
{
	show_head(cli, status);
	show_admin_ops(cli, status);
	show_trouble(cli, status);
	show_alarm(cli, status);
	show_reload(cli, status);
	show_room(cli, status);
	show_log(cli, status);
	show_runtimes(cli, value_get(status, "runtimes"));
	show_allowances(cli, value_get(status, "allowances"));
	show_roles(cli, value_get(status, "roles"));
	for (size_t i = 0; value_is(status, VALUE_MAP) && i < status->map.count; i++) {
		const struct value_entry *entry = &status->map.entries[i];

		if (is_in_head(entry->key) || value_is(entry->value, VALUE_LIST))
			continue;
		if (value_is(entry->value, VALUE_MAP))
			show_members(cli, page_name(cli, entry->key), entry->value);
		else if (is_plain(entry->value))
			show_field(cli, page_name(cli, entry->key),
				page_number(cli, entry->key, entry->value));
	}
	say(&cli->out, PAINT_DIM, "what the words mean: cectl status --help\n");
}

/* ---- --check ------------------------------------------------------------------------------- */

/* As monitors count: fine, warning, critical. */
static const struct {
	const char *word;
	int status;
	enum paint paint;
	enum mark mark;
} health_levels[] = {
	{ "ok", 0, PAINT_GREEN, MARK_GOOD },
	{ "degraded", 1, PAINT_YELLOW, MARK_DOT },
	{ "failing", 2, PAINT_RED, MARK_BAD },
};

#define HEALTH_FAILING (COUNT_OF(health_levels) - 1)
#define CHECK_UNKNOWN  3 /* monitors count so, too */

static size_t health_level(const char *word)
{
	for (size_t i = 0; i < COUNT_OF(health_levels); i++)
		if (strcmp(health_levels[i].word, word) == 0)
			return i;
	return HEALTH_FAILING;
}

static void show_fault(struct cli *cli, const struct value *fault)
{
	size_t level = health_level(page_text(cli, fault, "level"));
	char since[TIMES_TEXT_MAX];

	times_print(since, page_int(fault, "since_us"));
	say(&cli->out, health_levels[level].paint, "%s %s",
		output_mark(&cli->out, health_levels[level].mark), page_text(cli, fault, "part"));
	say(&cli->out, PAINT_PLAIN, ": %s (since %s)\n  ", page_text(cli, fault, "message"),
		output_safe(&cli->arena, since));
	say(&cli->out, PAINT_DIM, "%s\n", page_text(cli, fault, "remedy"));
}

/*
 * No daemon is the worst that can be, and needs the same word and status as its own faults: a monitor
 * shows what stdout has.  The reason is on stderr.
 */
static int check_failed(struct cli *cli, int asked, const struct value *error, struct err *err)
{
	const char *code = asked > 0 ? value_as_text(value_get(error, "code")) : NULL;
	const bool may_not = code ? !strcmp(code, "forbidden") : err->sys_errno == EACCES;

	if (!cli->json)
		say(&cli->out, may_not ? PAINT_YELLOW : PAINT_RED, "%s\n",
			may_not ? "unknown" : health_levels[HEALTH_FAILING].word);
	(void)cli_ask_failed(cli, asked, error, err);
	return may_not ? CHECK_UNKNOWN : health_levels[HEALTH_FAILING].status;
}

static int status_check(struct cli *cli)
{
	const struct value *health = NULL;
	const struct value *faults;
	struct err err = ERR_INIT;
	size_t level;
	int asked = cli_ask_quietly(cli, "health", value_map(&cli->arena), NULL, &health, &err);

	if (asked != 0)
		return check_failed(cli, asked, health, &err);
	level = health_level(page_text(cli, health, "status"));
	if (cli->json)
		return cli_document(cli, health, health_levels[level].status);
	faults = value_get(health, "faults");
	say(&cli->out, health_levels[level].paint, "%s\n", health_levels[level].word);
	for (size_t i = 0; value_at(faults, i); i++)
		show_fault(cli, value_at(faults, i));
	return health_levels[level].status;
}

static int status_run(struct cli *cli)
{
	const struct value *status = NULL;
	int failed;

	if (cli_flag(cli, "check"))
		return status_check(cli);
	failed = cli_ask(cli, "admin.status", value_map(&cli->arena), NULL, &status);
	if (failed)
		return failed;
	if (cli->json)
		return cli_document(cli, status, EXIT_OK);
	status_show(cli, status);
	return EXIT_OK;
}

// clang-format off
const struct command status_command = {
	.name = "status",
	.summary = "the state of the daemon",
	.about = "For administrators. Shows the daemon's version, its workers and queue, the "
		 "runs in progress, and the size of the store.\n"
		 "With --check, which every user may ask: which parts have a fault, since when, and "
		 "what to do. It exits with 0 if all is well, 1 if something needs a person, 2 if "
		 "runs are refused or no daemon answers, and 3 if you may not ask.",
	.options = OPTIONS(
		{ 0, "check", NULL, OPTION_FLAG, NULL, NULL, "which parts have a fault; for monitors" }),
	.examples = EXAMPLES(
		{ "cectl status", "is the daemon up, and what does it do?" },
		{ "cectl status --check", "a word for a monitor, and an exit status" },
		{ "cectl status --json | jq .queued", "one figure for a script" }),
	.print_more = status_words_help,
	.run = status_run,
};
// clang-format on
