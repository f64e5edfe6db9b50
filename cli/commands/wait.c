#include <stddef.h>

#include "cli/base/exits.h"
#include "cli/base/units.h"
#include "cli/commands/record.h"
#include "cli/commands/results.h"

#define TIMEOUT_MS_MAX UINT64_C(86400000)
#define GRACE_MS       INT64_C(2000) /* for the answer, once the time is over */

struct wait_options {
	const char *timeout;
	const char *out_dir;
};

// clang-format off
static const struct option_row rows[] = {
	{ 't', "timeout", "TIME", OPTION_TEXT, offsetof(struct wait_options, timeout),
		"give up after so long, as 500ms, 30s, 5m; the run continues" },
	{ 'o', "out", "DIR", OPTION_TEXT, offsetof(struct wait_options, out_dir),
		"writes its artifacts below DIR" },
	{ 0, NULL, NULL, OPTION_FLAG, 0, NULL },
};

static const struct example examples[] = {
	{ "id=$(cectl run --detach job.py) && cectl wait \"$id\"", "start now, fetch later" },
	{ "cectl wait last --timeout 30s --json", "the whole answer, or an error after half a minute" },
	{ NULL, NULL },
};
// clang-format on

/* A daemon that hangs cannot say that the time is over. */
static int parse_timeout(struct cli *cli, const char *text, uint64_t *ret_ms)
{
	struct err err = ERR_INIT;

	if (!text)
		return 0;
	if (units_parse_ms(text, ret_ms, &err) < 0)
		return cli_usage(cli, "--timeout: %s", err.text);
	if (*ret_ms > TIMEOUT_MS_MAX)
		return cli_usage(cli, "--timeout: at most 1d");
	if (*ret_ms < CLIENT_PATIENCE_MS)
		cli->patience_ms = (int64_t)*ret_ms + GRACE_MS;
	return 0;
}

static int make_params(
	struct cli *cli, const struct wait_options *options, struct value **ret_params)
{
	struct arena *arena = &cli->arena;
	struct value *params = value_map(arena);
	const char *run_id = NULL;
	uint64_t timeout_ms = 0;
	int status = parse_timeout(cli, options->timeout, &timeout_ms);

	if (status == 0)
		status = record_resolve(cli, cli->operands.items[0], &run_id);
	if (status != 0)
		return status;
	if (value_map_put(arena, params, "run_id", value_text(arena, run_id)) < 0)
		return cli_no_memory(cli);
	if (options->timeout &&
		value_map_put(arena, params, "timeout_ms", value_uint(arena, timeout_ms)) < 0)
		return cli_no_memory(cli);
	*ret_params = params;
	return 0;
}

static int still_running(struct cli *cli, const struct value *result)
{
	if (cli->json)
		return cli_document(cli, result, EXIT_TIME);
	say(&cli->err, PAINT_PLAIN, "cectl: run %s %s\n",
		output_text(&cli->arena, value_get(result, "run_id")),
		results_are_parked(result) ? "still waits for approval" : "is still running");
	return EXIT_TIME;
}

static int wait_run(struct cli *cli, const void *given)
{
	const struct wait_options *options = given;
	const struct result_options shown = { options->out_dir, false };
	struct value *params = NULL;
	const struct value *result = NULL;
	struct live live;
	int status = make_params(cli, options, &params);

	if (status == 0)
		status = results_prepare_out(cli, options->out_dir);
	if (status != 0)
		return status;
	live_init(&live, cli, false);
	cut_printf(live.run_id, sizeof(live.run_id), "%s",
		output_text(&cli->arena, value_get(params, "run_id")));
	if (options->timeout)
		live.watch.timeout_ms = value_as_int(value_get(params, "timeout_ms"), 0) + GRACE_MS;
	status = live_ask(&live, "wait", params, &result);
	if (status != 0)
		return status;
	if (!value_get(result, "outcome"))
		return still_running(cli, result);
	return results_show(&live, result, &shown);
}

const struct command wait_command = {
	.name = "wait",
	.operands = "RUN",
	.summary = "wait for a detached run and show its result",
	.about = "Waits until a run has ended, then does what `cectl run` would have done: "
		 "passes its output through and exits with its status.  For a run that has ended "
		 "it does so at once.  Exits with 124 when the run has not ended after "
		 "--timeout.  Ctrl-C ends the waiting, not the run.",
	.options = rows,
	.options_size = sizeof(struct wait_options),
	.operand_least = 1,
	.operand_most = 1,
	.examples = examples,
	.print_more = exits_help,
	.run_statuses = true,
	.run = wait_run,
};
