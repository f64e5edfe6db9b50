/* cectl watch: prints events of the daemon as they happen. */
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/exits.h"
#include "cli/base/option_values.h"
#include "cli/base/times.h"
#include "cli/base/units.h"
#include "cli/commands/commands.h"
#include "cli/session/page.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"

#define AGAIN_MS 500 /* between two tries to find the daemon again */

/* The state of one watch. */
struct watching {
	struct cli *cli;
	struct value *params;
	uint64_t most; /* 0: no end */
	uint64_t seen;
};

/* ---- one event ------------------------------------------------------------------------------ */

static enum paint paint_of(const char *kind, const char *outcome)
{
	static const struct {
		const char *kind;
		enum paint paint;
	} paints[] = {
		{ "started", PAINT_DIM },
		{ "asked", PAINT_CYAN },
		{ "approved", PAINT_CYAN },
		{ "limit", PAINT_YELLOW },
		{ "denied", PAINT_RED },
		{ "admin_op", PAINT_BOLD },
		{ "alert", PAINT_RED },
		{ "missed", PAINT_RED },
	};

	for (size_t i = 0; i < COUNT_OF(paints); i++)
		if (!strcmp(paints[i].kind, kind))
			return paints[i].paint;
	return output_outcome_paint(outcome);
}

/* A text, or several of them. */
static const char *words_of(struct cli *cli, const struct value *event, const char *key)
{
	const struct value *list = value_get(event, key);
	const char *all = "";

	if (!value_is(list, VALUE_LIST))
		return page_text(cli, event, key);
	for (size_t i = 0; value_at(list, i) && all; i++)
		all = arena_printf(&cli->arena, "%s%s%s", all, i ? ", " : "",
			output_text(&cli->arena, value_at(list, i)));
	return all ? all : "";
}

/* Keys whose values stand at the end of the line, in this order, as far as they are there. */
static void print_words(struct cli *cli, const struct value *event)
{
	static const struct {
		const char *key, *before;
	} words[] = {
		{ "agent", "agent " },
		{ "task", "task " },
		{ "limit", "" },
		{ "alert", "" },
		{ "method", "" },
		{ "call", "call " },
		{ "tool", "" },
		{ "by", "by uid " },
		{ "rules", "" },
		{ "message", "" },
		{ "reason", "" },
	};

	for (size_t i = 0; i < COUNT_OF(words); i++) {
		const char *text = words_of(cli, event, words[i].key);

		if (text[0])
			say(&cli->out, PAINT_PLAIN, "  %s%s", words[i].before, text);
	}
}

static void print_event(struct cli *cli, const struct value *event)
{
	const char *kind = page_text(cli, event, "kind");
	const char *outcome = page_text(cli, event, "outcome");
	char when[TIMES_TEXT_MAX];

	times_print_exact(when, page_int(event, "at_us"));
	when[strlen("2026-11-20 10:30:15.042")] = '\0';
	say(&cli->out, PAINT_DIM, "%s  ", cli->out.terminal ? when + strlen("2026-11-20 ") : when);
	say(&cli->out, paint_of(kind, outcome), "%-8s", kind);
	if (value_get(event, "run_id"))
		say(&cli->out, PAINT_PLAIN, "  %s", page_text(cli, event, "run_id"));
	if (value_get(event, "uid"))
		say(&cli->out, PAINT_PLAIN, "  uid %s", page_text(cli, event, "uid"));
	if (value_get(event, "language"))
		say(&cli->out, PAINT_PLAIN, "  %s", page_text(cli, event, "language"));
	if (outcome[0])
		say(&cli->out, output_outcome_paint(outcome), "  %s", outcome);
	if (strcmp(kind, "missed") == 0)
		say(&cli->out, PAINT_RED, "  %s events: this reader was too slow",
			page_text(cli, event, "count"));
	if (page_int(event, "exec_us") > 0)
		say(&cli->out, PAINT_DIM, "  %s", page_unit(cli, event, "exec_us"));
	print_words(cli, event);
	say(&cli->out, PAINT_PLAIN, "\n");
}

/* 1 ends the watch. */
static int on_notice(void *context, const char *method, const struct value *event, struct err *err)
{
	struct watching *watching = context;
	struct cli *cli = watching->cli;
	struct arena kept = cli->arena;
	int status = 0;

	if (strcmp(method, "event") != 0)
		return 0;
	/* An event's texts are for this line only; a watch may last for weeks. */
	arena_init(&cli->arena, kept.ceiling);
	if (cli->json)
		status = output_line(&cli->out, event, err);
	else
		print_event(cli, event);
	arena_done(&cli->arena);
	cli->arena = kept;
	if (status == 0)
		status = output_done(&cli->out, err);
	if (status < 0)
		return -1;
	watching->seen++;
	return watching->most && watching->seen >= watching->most;
}

/* ---- the connection ------------------------------------------------------------------------- */

static int subscribe(struct watching *watching)
{
	const struct value *result = NULL;
	/* Events that come before the answer count too. */
	const struct client_watch watch = {
		.context = watching, .timeout_ms = 60000, .on_notice = on_notice
	};

	return cli_ask(watching->cli, "events.subscribe", watching->params, &watch, &result);
}

static void await_daemon(struct watching *watching)
{
	struct cli *cli = watching->cli;
	const char *path = client_socket_path(cli->socket, &cli->arena);
	const struct timespec again = { .tv_nsec = AGAIN_MS * 1000000L };
	struct err err = ERR_INIT;

	client_close(cli->client);
	cli->client = NULL;
	while (!cli->client) {
		(void)nanosleep(&again, NULL);
		cli->client = client_open(path, &err);
	}
}

/* The daemon has gone: waits for it, and subscribes again. */
static int come_back(struct watching *watching)
{
	struct cli *cli = watching->cli;
	int64_t gone_ms = clock_ms();
	char took[UNITS_TEXT_MAX];
	int status;

	say(&cli->err, PAINT_YELLOW, "cectl: the daemon has gone; waiting for it to come back\n");
	do {
		await_daemon(watching);
		status = subscribe(watching);
	} while (status == EXIT_SERVICE); /* it went again */
	units_print_us(took, (clock_ms() - gone_ms) * 1000);
	if (status == 0)
		say(&cli->err, PAINT_YELLOW,
			"cectl: it is back after %s; what happened meanwhile: cectl runs\n", took);
	return status;
}

static int watch_on(struct watching *watching)
{
	const struct client_watch watch = { .context = watching, .on_notice = on_notice };
	int status = subscribe(watching);

	while (status == 0) {
		struct err err = ERR_INIT;

		if ((watching->most && watching->seen >= watching->most) ||
			client_listen(watching->cli->client, &watch, &err) == 1)
			return EXIT_OK;
		if (err.code != ERR_CLOSED && err.code != ERR_SYSTEM)
			return cli_fail(watching->cli, &err);
		if (output_done(&watching->cli->out, &err) < 0)
			return EXIT_SERVICE;
		status = come_back(watching);
	}
	return status;
}

/* ---- the command ---------------------------------------------------------------------------- */

static int watch_run(struct cli *cli)
{
	struct watching watching = { .cli = cli, .params = value_map(&cli->arena) };
	const char *limit = cli_text(cli, "limit");
	struct err err = ERR_INIT;
	int status = cli_put_options(cli, watching.params);

	if (status != 0)
		return status;
	if (limit && units_parse_count(limit, &watching.most, &err) < 0)
		return cli_usage(cli, "--limit: %s", err.text);
	if (limit && !watching.most)
		return cli_usage(cli, "--limit: at least 1");
	return watch_on(&watching);
}

// clang-format off
const struct command watch_command = {
	.name = "watch",
	.summary = "events of the daemon as they happen",
	.about = "Prints a line for each event until it is interrupted: runs that start and end, "
		 "that are denied, or that wait for approval. Administrators see the events of "
		 "all users, and acts on the daemon. With --json each line is a document. When "
		 "the daemon stops, cectl waits for it to come back. A reader that is too slow "
		 "gets the number of events that it missed.",
	.options = OPTIONS(
		{ 'k', "kind", "KIND", OPTION_LIST, "kinds", NULL,
			"only these: started, finished, limit, denied, asked, approved, admin_op, alert" },
		{ 'u', "uid", "USER", OPTION_TEXT, "uid", option_user,
			"only runs of this user, a name or a uid" },
		{ 0, "agent", "AGENT", OPTION_TEXT, "agent", NULL, "only runs of this agent" },
		{ 0, "task", "TASK", OPTION_TEXT, "task", NULL, "only runs of this task" },
		{ 'n', "limit", "N", OPTION_TEXT, NULL, NULL, "ends after so many events" }),
	.examples = EXAMPLES(
		{ "cectl watch", "everything that you may see" },
		{ "cectl watch -k asked -k denied", "runs that wait for a person, and refused ones" },
		{ "cectl watch --json -k finished | jq -r .outcome", "one document on each line, for programs" }),
	.run = watch_run,
};
// clang-format on
