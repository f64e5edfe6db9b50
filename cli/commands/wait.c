#include "cli/base/exits.h"
#include "cli/base/option_values.h"
#include "cli/commands/record.h"
#include "cli/commands/results.h"

#define TIMEOUT_MS_MAX INT64_C(86400000)
#define GRACE_MS       INT64_C(2000) /* for the answer, once the time is over */

/* A daemon that hangs cannot say that the time is over. */
static int make_params(struct cli *cli, struct value *params)
{
	const char *run_id = NULL;
	int64_t timeout_ms;
	int status = cli_put_options(cli, params);

	if (status != 0)
		return status;
	timeout_ms = value_as_int(value_get(params, "timeout_ms"), CLIENT_PATIENCE_MS);
	if (cli_text(cli, "timeout") && timeout_ms > TIMEOUT_MS_MAX)
		return cli_usage(cli, "--timeout: at most 1d");
	if (timeout_ms < CLIENT_PATIENCE_MS)
		cli->patience_ms = timeout_ms + GRACE_MS;
	status = record_resolve(cli, cli_operand(cli, 0), &run_id);
	if (status == 0)
		(void)value_map_put(&cli->arena, params, "run_id", value_text(&cli->arena, run_id));
	return status;
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

static int wait_run(struct cli *cli)
{
	struct value *params = value_map(&cli->arena);
	const struct value *result = NULL;
	const char *out_dir = cli_text(cli, "out");
	struct live live;
	int status = make_params(cli, params);

	if (status == 0)
		status = results_prepare_out(cli, out_dir);
	if (status != 0)
		return status;
	live_init(&live, cli, false);
	cut_printf(live.run_id, sizeof(live.run_id), "%s",
		output_text(&cli->arena, value_get(params, "run_id")));
	if (cli_text(cli, "timeout"))
		live.watch.timeout_ms = value_as_int(value_get(params, "timeout_ms"), 0) + GRACE_MS;
	status = live_ask(&live, "wait", params, &result);
	if (status != 0)
		return status;
	if (!value_get(result, "outcome"))
		return still_running(cli, result);
	return results_show(&live, result, out_dir);
}

// clang-format off
const struct command wait_command = {
	.name = "wait",
	.operands = "RUN",
	.summary = "wait for a detached run and show its result",
	.about = "Waits until a run has ended, then does what `cectl run` would have done: "
		 "passes its output through and exits with its status.  For a run that has ended "
		 "it does so at once.  Exits with 124 when the run has not ended after "
		 "--timeout.  Ctrl-C ends the waiting, not the run.",
	.options = OPTIONS(
		{ 't', "timeout", "TIME", OPTION_TEXT, "timeout_ms", option_ms,
			"give up after so long, as 500ms, 30s, 5m; the run continues" },
		{ 'o', "out", "DIR", OPTION_TEXT, NULL, NULL, "writes its artifacts below DIR" }),
	.operand_least = 1, .operand_most = 1,
	.examples = EXAMPLES(
		{ "id=$(cectl run --detach job.py) && cectl wait \"$id\"", "start now, fetch later" },
		{ "cectl wait last --timeout 30s --json", "the whole answer, or an error after half a minute" }),
	.print_more = exits_help,
	.run_statuses = true,
	.run = wait_run,
};
// clang-format on
