/* What happens just now, drawn again and again until somebody has seen enough. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/exits.h"
#include "cli/page.h"
#include "cli/screen.h"
#include "cli/top.h"
#include "cli/units.h"
#include "proto/base/cleanup.h"
#include "proto/base/clock.h"

#define INTERVAL_MS       1000
#define INTERVAL_MS_LEAST 100
#define INTERVAL_MS_MOST  3600000

struct top_options {
	const char *interval;
	bool once;
};

// clang-format off
static const struct option_row rows[] = {
	{ 0, "interval", "TIME", OPTION_TEXT, offsetof(struct top_options, interval),
		"how often to look; 1s unless said" },
	{ 0, "once", NULL, OPTION_FLAG, offsetof(struct top_options, once),
		"one page, and no more; no terminal needed" },
	{ 0, NULL, NULL, OPTION_FLAG, 0, NULL },
};

static const struct example examples[] = {
	{ "cectl top", "q leaves" },
	{ "cectl top --interval 5s", "more quietly" },
	{ "cectl top --once", "for a mail or a log" },
	{ "cectl top --json | jq '.running[].run_id'", "for a script" },
	{ NULL, NULL },
};
// clang-format on

/* ---- one frame ---------------------------------------------------------------------------- */

/* The page as text; what it looks like depends on the command's output. */
static int print_frame(struct top *top, const struct value *seen, char **ret_text, size_t *ret_len)
{
	struct output kept = top->cli->out;
	FILE *file = open_memstream(ret_text, ret_len);

	if (!file)
		return -1;
	top->cli->out.file = file;
	top_print(top, seen, screen_get_size());
	top->cli->out = kept;
	return fclose(file) == 0 ? 0 : -1;
}

static int draw(struct top *top, const struct value *seen, struct err *err)
{
	auto_free char *text = NULL;
	size_t len = 0;

	if (print_frame(top, seen, &text, &len) < 0)
		return err_set(err, ERR_MEMORY, "not enough memory to draw");
	return screen_draw(text, len, err);
}

/* A daemon that is gone may come back: the next look tries. */
static int draw_trouble(struct top *top, const struct err *why, struct err *err)
{
	struct cli *cli = top->cli;
	const char *text =
		arena_printf(&cli->arena, "cectl top: %s\n\nIt is tried again; q leaves.\n",
			output_safe(&cli->arena, why->text));

	client_close(cli->client);
	cli->client = NULL;
	return text ? screen_draw(text, strlen(text), err) : 0;
}

/* The arena's content is for this frame only. */
static int look_and_draw(struct top *top, struct err *err)
{
	struct arena kept = top->cli->arena;
	const struct value *seen = NULL;
	struct err why = ERR_INIT;
	int status;

	arena_init(&top->cli->arena, kept.ceiling);
	status = top_look(top, &seen, &why);
	if (status == 1)
		(void)err_set(&why, ERR_SYSTEM, "%s", page_text(top->cli, seen, "message"));
	status = status == 0 ? draw(top, seen, err) : draw_trouble(top, &why, err);
	arena_done(&top->cli->arena);
	top->cli->arena = kept;
	return status;
}

/* ---- again and again ---------------------------------------------------------------------- */

static int draw_until_left(struct top *top, uint64_t interval_ms, struct err *err)
{
	for (;;) {
		int64_t next_ms = clock_ms() + (int64_t)interval_ms;
		int key = 0;

		if (look_and_draw(top, err) < 0)
			return -1;
		while (key == 0 && clock_ms() < next_ms) {
			struct screen_size before = screen_get_size();
			struct screen_size after;

			key = screen_wait(next_ms - clock_ms());
			after = screen_get_size();
			if (after.columns != before.columns || after.rows != before.rows)
				break;
		}
		if (key == 'q' || key == 'Q' || key < 0)
			return 0;
	}
}

static int live(struct top *top, uint64_t interval_ms)
{
	struct err err = ERR_INIT;
	int status;

	if (screen_open(&err) < 0)
		return cli_usage(top->cli, "%s; --once prints one page", err.text);
	status = draw_until_left(top, interval_ms, &err);
	screen_close();
	return status < 0 ? cli_fail(top->cli, &err) : EXIT_OK;
}

static int once(struct top *top)
{
	struct cli *cli = top->cli;
	const struct value *seen = NULL;
	struct err err = ERR_INIT;
	int status = top_look(top, &seen, &err);

	if (status < 0)
		return cli_fail(cli, &err);
	if (status > 0) {
		(void)err_set(&err, ERR_DENIED, "%s", page_text(cli, seen, "message"));
		return cli_fail(cli, &err);
	}
	if (cli->json)
		return cli_document(cli, seen, EXIT_OK);
	top_print(top, seen, (struct screen_size){ output_text_width(&cli->out), SIZE_MAX / 2 });
	return EXIT_OK;
}

static int run(struct cli *cli, const void *given)
{
	const struct top_options *options = given;
	struct top top = { .cli = cli };
	const struct value *hello = NULL;
	uint64_t interval_ms = INTERVAL_MS;
	struct err err = ERR_INIT;
	int status;

	if (options->interval && units_parse_ms(options->interval, &interval_ms, &err) < 0)
		return cli_usage(cli, "--interval: %s", err.text);
	if (interval_ms < INTERVAL_MS_LEAST || interval_ms > INTERVAL_MS_MOST)
		return cli_usage(cli, "--interval is from 100ms to 1h");
	/* That nobody answers is told as ever, before the terminal is taken. */
	status = cli_ask(cli, "runtimes", value_map(&cli->arena), NULL, &hello);
	if (status != 0)
		return status;
	return options->once || cli->json ? once(&top) : live(&top, interval_ms);
}

const struct command top_command = {
	.name = "top",
	.operands = "",
	.summary = "what happens just now, on the whole terminal",
	.about =
		"Draws running and queued runs, workers, rates and times of the last ten seconds, the "
		"slowest runs and those that were refused in the last minute, once a second: of "
		"everybody for an administrator, else your own.  The bars on top are runs per second "
		"since it began.  q leaves.",
	.options = rows,
	.options_size = sizeof(struct top_options),
	.examples = examples,
	.run = run,
};
