#include "cli/doctor/doctor.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/exits.h"
#include "cli/commands/commands.h"
#include "cli/session/page.h"
#include "proto/base/container.h"
#include "proto/fill.h"

#define NAME_COLUMN  4
#define FOUND_COLUMN 20
#define ANSWER_MS    5000

/* clang-format off */
static const struct {
	enum mark mark;
	enum paint paint;
} looks[] = {
	[STATE_GOOD]    = { MARK_GOOD, PAINT_GREEN },
	[STATE_NOTE]    = { MARK_DOT,  PAINT_DIM },
	[STATE_WEAKER]  = { MARK_DOT,  PAINT_YELLOW },
	[STATE_MISSING] = { MARK_BAD,  PAINT_RED },
	[STATE_UNTRIED] = { MARK_DOT,  PAINT_DIM },
};
/* clang-format on */

/* All that is known when everything was tried. */
struct visit {
	struct patient patient;
	struct findings findings;
	const struct value *hello; /* of a daemon that answers, or NULL */
	const struct value *host;  /* what it says of its host, to an administrator; or NULL */
	const struct value *status;
	char hang[ERR_TEXT_MAX]; /* a daemon is there and does not answer: how that shows */
};

/* ---- a daemon that runs -------------------------------------------------------------------- */

static const struct value *doctor_ask(
	struct cli *cli, struct client *client, const char *method, struct err *err)
{
	const struct client_watch watch = { .timeout_ms = ANSWER_MS };
	const struct client_question question = { method, value_map(&cli->arena), &watch };
	const struct value *answer = NULL;

	return client_call(client, &question, &cli->arena, &answer, err) == 0 ? answer : NULL;
}

/* A daemon is optional, so its absence is no error. */
static void ask_daemon(struct cli *cli, struct visit *visit)
{
	const char *path = client_socket_path(cli->socket, &cli->arena);
	struct err err = ERR_INIT;
	auto_of(client_close) struct client *client = path ? client_open(path, &err) : NULL;

	if (client)
		visit->hello = doctor_ask(cli, client, "hello", &err);
	if (!visit->hello && err.code == ERR_TIMEOUT)
		cut_printf(visit->hang, sizeof(visit->hang), "%s", err.text);
	if (visit->hello)
		visit->status = doctor_ask(cli, client, "admin.status", &err);
	visit->host = value_get(visit->status, "host");
}

/* The folder that a daemon really uses, which its command line may name. */
static void take_state(struct cli *cli, struct visit *visit)
{
	const char *path = page_text(cli, value_get(visit->status, "store"), "path");
	const char *slash = strrchr(path, '/');
	struct settings *settings = &visit->patient.settings;

	if (slash && slash > path)
		cut_printf(settings->state, sizeof(settings->state), "%.*s", (int)(slash - path),
			path);
}

/* A layer may be missing here and held by the daemon, which was started in another cgroup. */
static void believe_daemon(struct visit *visit)
{
	for (size_t i = 0; i < visit->findings.count; i++) {
		struct finding *finding = &visit->findings.rows[i];
		const char *held = finding->layer
					   ? value_as_text(value_get(visit->host, finding->name))
					   : NULL;
		char found[FOUND_BYTES];

		if (!held || strncmp(held, "cgroup", strlen("cgroup")) != 0 ||
			finding->state == STATE_GOOD)
			continue;
		cut_printf(found, sizeof(found),
			"not here (%s); the daemon that runs has it, by %s", finding->found, held);
		cut_printf(finding->found, sizeof(finding->found), "%s", found);
		finding->state = STATE_NOTE;
		finding->repair[0] = '\0';
	}
}

/* ---- as a page ----------------------------------------------------------------------------- */

static void show_wrapped(struct cli *cli, const char *text)
{
	page_wrapped_from(cli, PAINT_PLAIN, text, FOUND_COLUMN, FOUND_COLUMN);
}

static void show_row(struct cli *cli, const struct finding *finding)
{
	const char *name = output_safe(&cli->arena, finding->name);
	bool bad = finding->state == STATE_MISSING || finding->state == STATE_WEAKER;

	say(&cli->out, looks[finding->state].paint, "  %s ",
		output_mark(&cli->out, looks[finding->state].mark));
	say(&cli->out, PAINT_BOLD, "%-*s", FOUND_COLUMN - NAME_COLUMN - 1, name);
	say(&cli->out, PAINT_PLAIN, " ");
	show_wrapped(cli, output_safe(&cli->arena, finding->found));
	if (!bad)
		return;
	say(&cli->out, PAINT_DIM, "    %-*s", FOUND_COLUMN - NAME_COLUMN, "  without it");
	show_wrapped(cli, finding->means);
	/* on one line, however long: it is there to be pasted */
	if (finding->repair[0]) {
		say(&cli->out, PAINT_DIM, "    %-*s", FOUND_COLUMN - NAME_COLUMN, "  repair");
		say(&cli->out, PAINT_CYAN, "%s\n", output_safe(&cli->arena, finding->repair));
	}
}

static void show_daemon(struct cli *cli, const struct visit *visit)
{
	const char *trouble = page_text(cli, visit->status, "trouble");
	const char *alarm = page_text(cli, value_get(visit->status, "audit"), "alarm");
	bool is_bad = trouble[0] || alarm[0];

	output_heading(&cli->out, "daemon");
	if (visit->hang[0]) {
		say(&cli->out, PAINT_RED, "  %s it is there and hangs: %s\n",
			output_mark(&cli->out, MARK_BAD), output_safe(&cli->arena, visit->hang));
		return;
	}
	if (!visit->hello) {
		say(&cli->out, PAINT_DIM, "  %s none answers; nothing here needs one\n",
			output_mark(&cli->out, MARK_DOT));
		return;
	}
	say(&cli->out, is_bad ? PAINT_RED : PAINT_GREEN, "  %s ",
		output_mark(&cli->out, is_bad ? MARK_BAD : MARK_GOOD));
	say(&cli->out, PAINT_BOLD, "ced %s", page_text(cli, visit->hello, "version"));
	if (visit->host)
		say(&cli->out, PAINT_PLAIN,
			"  memory by %s, pids by %s, cpu by %s, Landlock ABI %s",
			page_text(cli, visit->host, "memory"), page_text(cli, visit->host, "pids"),
			page_text(cli, visit->host, "cpu"),
			output_text(&cli->arena, value_get(visit->host, "landlock_abi")));
	say(&cli->out, PAINT_PLAIN, "\n");
	if (trouble[0])
		say(&cli->out, PAINT_RED, "    it records nothing: %s\n", trouble);
	if (alarm[0])
		say(&cli->out, PAINT_RED,
			"    audit alarm: %s:\n    see \"Has anybody touched it?\" in docs/operations/record.md\n",
			alarm);
}

static size_t count_of(const struct visit *visit, enum state state)
{
	size_t count = 0;

	for (size_t i = 0; i < visit->findings.count; i++)
		count += visit->findings.rows[i].state == state;
	return count;
}

static bool ails(struct cli *cli, const struct visit *visit)
{
	return visit->hang[0] || page_text(cli, visit->status, "trouble")[0];
}

static void show_verdict(struct cli *cli, const struct visit *visit, bool well)
{
	bool all_well = well && !ails(cli, visit);

	say(&cli->out, PAINT_PLAIN, "\n");
	say(&cli->out, all_well ? PAINT_GREEN : PAINT_RED, "%s ced %s here",
		output_mark(&cli->out, all_well ? MARK_GOOD : MARK_BAD),
		well ? "runs" : "does not run");
	say(&cli->out, PAINT_PLAIN, "%s%s\n  %zu good, %zu weaker, %zu missing, %zu not tried\n",
		visit->patient.root ? ", started by root" : ", started by this user",
		well && !all_well ? "; the daemon takes no runs until its trouble is over" : "",
		count_of(visit, STATE_GOOD), count_of(visit, STATE_WEAKER),
		count_of(visit, STATE_MISSING), count_of(visit, STATE_UNTRIED));
}

static void doctor_show(struct cli *cli, const struct visit *visit, bool well)
{
	const char *group = "";

	for (size_t i = 0; i < visit->findings.count; i++) {
		const struct finding *finding = &visit->findings.rows[i];

		if (strcmp(finding->group, group) != 0)
			output_heading(&cli->out, output_safe(&cli->arena, finding->group));
		group = finding->group;
		show_row(cli, finding);
	}
	show_daemon(cli, visit);
	show_verdict(cli, visit, well);
}

/* ---- as a document ------------------------------------------------------------------------- */

static struct value *row_value(struct arena *arena, const struct finding *finding)
{
	bool is_bad = finding->state == STATE_MISSING || finding->state == STATE_WEAKER;
	struct fill fill = fill_start(arena);

	fill_text(&fill, "group", finding->group);
	fill_text(&fill, "name", finding->name);
	fill_text(&fill, "tried", finding->what);
	fill_text(&fill, "needed", need_word(finding->need));
	fill_text(&fill, "state", state_word(finding->state));
	fill_text(&fill, "found", finding->found);
	fill_value(&fill, "without", value_text(arena, is_bad ? finding->means : NULL));
	fill_value(&fill, "repair",
		value_text(arena, is_bad && finding->repair[0] ? finding->repair : NULL));
	return fill_done(&fill);
}

static struct value *daemon_value(struct cli *cli, const struct visit *visit)
{
	static const char *const names[] = { "memory", "pids", "cpu", "landlock_abi" };
	struct fill fill = fill_start(&cli->arena);

	if (!visit->hello && !visit->hang[0])
		return value_nil(fill.arena);
	if (!visit->hello) {
		fill_text(&fill, "trouble", visit->hang);
		return fill_done(&fill);
	}
	fill_text(&fill, "version", page_text(cli, visit->hello, "version"));
	for (size_t i = 0; i < COUNT_OF(names); i++)
		fill_shared(&fill, names[i], value_get(visit->host, names[i]));
	fill_shared(&fill, "trouble", value_get(visit->status, "trouble"));
	fill_shared(&fill, "alarm", value_get(value_get(visit->status, "audit"), "alarm"));
	return fill_done(&fill);
}

static struct value *doctor_document(struct cli *cli, const struct visit *visit, bool well)
{
	struct arena *arena = &cli->arena;
	const struct settings *settings = &visit->patient.settings;
	struct value *map = value_map(arena);
	struct value *list = value_list(arena);

	for (size_t i = 0; i < visit->findings.count; i++)
		value_list_add(arena, list, row_value(arena, &visit->findings.rows[i]));
	value_map_put(arena, map, "well", value_bool(arena, well));
	value_map_put(arena, map, "mode", value_text(arena, visit->patient.root ? "root" : "user"));
	value_map_put(arena, map, "config",
		value_text(arena, settings->config[0] ? settings->config : NULL));
	value_map_put(arena, map, "checks", list);
	value_map_put(arena, map, "daemon", daemon_value(cli, visit));
	return map;
}

/* ---- the command --------------------------------------------------------------------------- */

static int doctor_run(struct cli *cli)
{
	struct visit *visit = arena_new(&cli->arena, struct visit);
	const char *config = cli_text(cli, "config");
	bool well;
	int status;

	if (!visit)
		return cli_no_memory(cli);
	visit->patient.root = geteuid() == 0;
	settings_read(&visit->patient.settings, config);
	ask_daemon(cli, visit);
	if (!config)
		take_state(cli, visit);
	doctor_try_all(&visit->patient, &visit->findings);
	believe_daemon(visit);
	well = doctor_is_well(&visit->findings);
	status = well && !ails(cli, visit) ? EXIT_OK : EXIT_FAILED;
	if (cli->json)
		return cli_document(cli, doctor_document(cli, visit, well), status);
	doctor_show(cli, visit, well);
	return status;
}

// clang-format off
const struct command doctor_command = {
	.name = "doctor",
	.summary = "tries what this host gives to jails, and says what to repair",
	.about =
		"Makes a jail, step by step, with the code and the rights that ced-spawner has when "
		"the same user starts it at the same place.  Checks the kernel, the programs, the "
		"settings and the free room on the disk of the store, too.  Each line says what was "
		"found; where something is missing, it says what ced does without it and what to "
		"type.  Needs no daemon; it asks a running one what it has.\n"
		"Exits with 0 when ced runs here.  Exits with 1 when something that it needs is "
		"missing, or when the running daemon cannot record runs.",
	.options = OPTIONS(
		{ 0, "config", "FILE", OPTION_TEXT, NULL, NULL,
		  "settings to check for; else /etc/ced/ced.conf where it is there, else the defaults" }),
	.examples = EXAMPLES(
		{ "cectl doctor", "what does this host give, and what must be repaired?" },
		{ "cectl doctor --json | jq -r '.checks[] | select(.state == \"missing\") | .repair'",
		  "only the repairs" },
		{ "systemd-run --user --scope -p Delegate=yes cectl doctor", "the same in a cgroup of its own" }),
	.run = doctor_run,
};
// clang-format on
