/* cectl watch: prints events of the daemon as they happen. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/exits.h"
#include "cli/base/times.h"
#include "cli/base/units.h"
#include "cli/base/users.h"
#include "cli/commands/commands.h"
#include "cli/session/page.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"

#define AGAIN_MS 500 /* between two tries to find the daemon again */

struct watch_options {
	struct words kinds;
	const char *uid, *agent, *task;
	const char *limit;
};

// clang-format off
static const struct option_row rows[] = {
	{ 'k', "kind", "KIND", OPTION_LIST, offsetof(struct watch_options, kinds),
		"only these: started, finished, limit, denied, asked, approved, admin_op, alert" },
	{ 'u', "uid", "USER", OPTION_TEXT, offsetof(struct watch_options, uid),
		"only runs of this user, a name or a uid" },
	{ 0, "agent", "AGENT", OPTION_TEXT, offsetof(struct watch_options, agent),
		"only runs of this agent" },
	{ 0, "task", "TASK", OPTION_TEXT, offsetof(struct watch_options, task),
		"only runs of this task" },
	{ 'n', "limit", "N", OPTION_TEXT, offsetof(struct watch_options, limit),
		"ends after so many events" },
	{ 0, NULL, NULL, OPTION_FLAG, 0, NULL },
};

static const struct example examples[] = {
	{ "cectl watch", "everything that you may see" },
	{ "cectl watch -k asked -k denied", "runs that wait for a person, and refused ones" },
	{ "cectl watch --json -k finished | jq -r .outcome", "one document on each line, for programs" },
	{ NULL, NULL },
};
// clang-format on

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

/* "ran 12.3 ms" for a program that ran. */
static void print_took(const struct output *out, const struct value *event)
{
	char took[UNITS_TEXT_MAX];
	int64_t exec_us = page_int(event, "exec_us");

	if (exec_us <= 0)
		return;
	units_print_us(took, exec_us);
	say(out, PAINT_DIM, "  %s", took);
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
	print_took(&cli->out, event);
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

/* Asks a fresh connection for events, and hears them.  1: enough; else what ended it. */
static int hear(struct watching *watching, struct err *err)
{
	struct cli *cli = watching->cli;
	const struct client_watch watch = { .context = watching, .on_notice = on_notice };

	return client_listen(cli->client, &watch, err);
}

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
	int status = subscribe(watching);

	while (status == 0) {
		struct err err = ERR_INIT;
		int heard = watching->most && watching->seen >= watching->most
				    ? 1
				    : hear(watching, &err);

		if (heard == 1)
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

static int put_words(struct cli *cli, struct value *params, const struct watch_options *options)
{
	struct arena *arena = &cli->arena;
	struct value *kinds = value_list(arena);

	for (size_t i = 0; i < options->kinds.count; i++)
		(void)value_list_add(arena, kinds, value_text(arena, options->kinds.items[i]));
	if (options->kinds.count && value_map_put(arena, params, "kinds", kinds) < 0)
		return -1;
	if (options->agent &&
		value_map_put(arena, params, "agent", value_text(arena, options->agent)) < 0)
		return -1;
	if (options->task &&
		value_map_put(arena, params, "task", value_text(arena, options->task)) < 0)
		return -1;
	return value_ok(arena) ? 0 : -1;
}

static int watch_run(struct cli *cli, const void *given)
{
	const struct watch_options *options = given;
	struct watching watching = { .cli = cli, .params = value_map(&cli->arena) };
	struct err err = ERR_INIT;
	uint32_t uid = 0;

	if (options->uid && users_parse(options->uid, &uid, &err) < 0)
		return cli_usage(cli, "--uid: %s", err.text);
	if (options->limit && units_parse_count(options->limit, &watching.most, &err) < 0)
		return cli_usage(cli, "--limit: %s", err.text);
	if (options->limit && !watching.most)
		return cli_usage(cli, "--limit: at least 1");
	if (put_words(cli, watching.params, options) < 0 ||
		(options->uid && value_map_put(&cli->arena, watching.params, "uid",
					 value_uint(&cli->arena, uid)) < 0))
		return cli_no_memory(cli);
	return watch_on(&watching);
}

const struct command watch_command = {
	.name = "watch",
	.operands = "",
	.summary = "events of the daemon as they happen",
	.about = "Prints a line for each event until it is interrupted: runs that start and end, "
		 "that are denied, or that wait for approval. Administrators see the events of "
		 "all users, and acts on the daemon. With --json each line is a document. When "
		 "the daemon stops, cectl waits for it to come back. A reader that is too slow "
		 "gets the number of events that it missed.",
	.options = rows,
	.options_size = sizeof(struct watch_options),
	.examples = examples,
	.run = watch_run,
};
