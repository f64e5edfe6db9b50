#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/demo.h"
#include "cli/exits.h"
#include "cli/options.h"
#include "cli/page.h"
#include "cli/record.h"
#include "cli/source.h"
#include "cli/units.h"

struct demo_options {
	bool passing;
};

// clang-format off
static const struct option_row rows[] = {
	{ 0, "passing", NULL, OPTION_FLAG, offsetof(struct demo_options, passing),
		"the daemon ends with the tour (./dev demo): say how to start one" },
	{ 0, NULL, NULL, OPTION_FLAG, 0, NULL },
};

static const struct example examples[] = {
	{ "cectl demo", "four programs, half a second" },
	{ "cectl demo --json | jq '.acts[].result.outcome'", "the same for a script" },
	{ NULL, NULL },
};
// clang-format on

/* The tour while it goes on. */
struct tour {
	struct cli *cli;
	struct value *acts; /* for --json */
	const char *first_run_id;
	size_t failed;
};

static int put(struct cli *cli, struct value *map, const char *key, struct value *value)
{
	return value_map_put(&cli->arena, map, key, value);
}

static struct value *json_file(struct cli *cli, const char *name)
{
	const struct value *text = demo_file(cli, name);
	struct value *value = NULL;

	if (!text || source_json(&cli->arena, text->text.bytes, text->text.len, &value, NULL) < 0)
		return NULL;
	return value;
}

static struct value *make_limits(struct cli *cli, const struct act *act)
{
	struct value *limits = value_map(&cli->arena);

	if (put(cli, limits, act->limit, value_int(&cli->arena, act->limit_value)) < 0)
		return NULL;
	return limits;
}

static struct value *make_params(struct cli *cli, const struct act *act)
{
	struct value *params = value_map(&cli->arena);
	struct arena *arena = &cli->arena;

	if (put(cli, params, "language", value_text(arena, "python")) < 0 ||
		put(cli, params, "code", demo_file(cli, act->program)) < 0 ||
		put(cli, params, "entrypoint", value_text(arena, act->program)) < 0 ||
		put(cli, params, "agent", value_text(arena, "demo")) < 0)
		return NULL;
	if (act->input && put(cli, params, "input", json_file(cli, act->input)) < 0)
		return NULL;
	if (act->schema && put(cli, params, "schema", json_file(cli, act->schema)) < 0)
		return NULL;
	if (act->policy && put(cli, params, "policy", value_text(arena, act->policy)) < 0)
		return NULL;
	if (act->limit && put(cli, params, "limits", make_limits(cli, act)) < 0)
		return NULL;
	return params;
}

static void introduce(struct cli *cli, const struct act *act)
{
	const struct page_marks unmarked = { NULL, 0 };
	const char *title = arena_printf(&cli->arena, "%zu of %zu  %s",
		(size_t)(act - demo_acts) + 1, demo_act_count, act->title);

	output_heading(&cli->out, title ? title : act->title);
	page_wrapped(cli, PAINT_PLAIN, act->story, 0);
	say(&cli->out, PAINT_DIM, "\n  $ %s\n\n", act->command);
	if (act->shows_code) {
		page_code(cli, demo_file(cli, act->program), &unmarked, true);
		say(&cli->out, PAINT_PLAIN, "\n");
	}
	(void)fflush(cli->out.file);
}

static void tell_outcome(struct cli *cli, const struct value *result)
{
	const char *outcome = output_text(&cli->arena, value_get(result, "outcome"));
	const struct value *total = value_get(value_get(result, "metrics"), "total_us");

	say(&cli->out, output_outcome_paint(outcome), "  %s %s",
		output_mark(&cli->out, strcmp(outcome, "ok") == 0 ? MARK_GOOD : MARK_BAD), outcome);
	say(&cli->out, PAINT_PLAIN, " in %s", page_number(cli, "total_us", total));
	say(&cli->out, PAINT_DIM, "   run %s\n\n",
		output_text(&cli->arena, value_get(result, "run_id")));
}

/* The tour is only as good as its word: what it announced must have happened. */
static bool ended_as_told(struct cli *cli, const struct act *act, const struct value *result)
{
	const char *outcome = output_text(&cli->arena, value_get(result, "outcome"));

	if (strcmp(outcome, act->outcome) != 0) {
		say(&cli->out, PAINT_RED, "  This act should have ended as %s: %s\n", act->outcome,
			output_text(&cli->arena, value_get(result, "reason")));
		return false;
	}
	if (act->tell(cli, act, result) == 0)
		return true;
	say(&cli->out, PAINT_RED, "  The result lacks the facts that this act is about.\n");
	return false;
}

static int keep(struct tour *tour, const struct act *act, const struct value *result)
{
	struct cli *cli = tour->cli;
	struct value *entry = value_map(&cli->arena);
	struct value *copy = arena_new(&cli->arena, struct value);

	if (!copy)
		return -1;
	*copy = *result;
	if (put(cli, entry, "title", value_text(&cli->arena, act->title)) < 0 ||
		put(cli, entry, "expected", value_text(&cli->arena, act->outcome)) < 0 ||
		put(cli, entry, "result", copy) < 0)
		return -1;
	return value_list_add(&cli->arena, tour->acts, entry);
}

/* 0, or the exit status when there is no going on. */
static int play(struct tour *tour, const struct act *act)
{
	struct cli *cli = tour->cli;
	const struct value *result = NULL;
	struct value *params = make_params(cli, act);
	int status;

	if (!params)
		return cli_no_memory(cli);
	introduce(cli, act);
	status = cli_ask(cli, "run", params, NULL, &result);
	if (status != 0)
		return status;
	if (!tour->first_run_id)
		tour->first_run_id = value_as_text(value_get(result, "run_id"));
	tell_outcome(cli, result);
	if (!ended_as_told(cli, act, result))
		tour->failed++;
	return keep(tour, act, result) < 0 ? cli_no_memory(cli) : 0;
}

static int show_record(struct tour *tour)
{
	struct cli *cli = tour->cli;
	const struct value *record = NULL;
	int status;

	if (!tour->first_run_id)
		return EXIT_FAILED;
	output_heading(&cli->out, "what the store knows about the first");
	status = record_get(cli, tour->first_run_id, &record);
	if (status != 0)
		return status;
	record_show_facts(cli, record);
	say(&cli->out, PAINT_PLAIN, "\n");
	record_show_trace(cli, record);
	return 0;
}

static void suggest(const struct output *out, const char *line, const char *meaning)
{
	say(out, PAINT_BOLD, "  %-30s", line);
	say(out, PAINT_DIM, "  %s\n", meaning);
}

/* "export CED_SOCKET=..." when cectl would not find this daemon by itself. */
static void suggest_socket(struct cli *cli)
{
	const char *here = client_socket_path(cli->socket, &cli->arena);

	if (cli->socket || getenv("CED_SOCKET"))
		say(&cli->out, PAINT_BOLD, "  export CED_SOCKET=%s\n",
			output_safe(&cli->arena, here));
}

static void suggest_next(struct cli *cli, const struct demo_options *options)
{
	output_heading(&cli->out, "what to type next");
	if (options->passing) {
		suggest(&cli->out, "./dev run", "a private daemon that stays, until Ctrl-C");
		say(&cli->out, PAINT_PLAIN, "  and in another terminal:\n");
		say(&cli->out, PAINT_BOLD, "  export PATH=\"$PWD/build/release/bin:$PATH\"\n");
	} else {
		suggest_socket(cli);
	}
	suggest(&cli->out, "cectl run -c 'print(6 * 7)'", "a program of yours");
	suggest(&cli->out, "cectl show last", "its record: verdict, limits, time, output");
	suggest(&cli->out, "cectl runs --since 1h", "all that ran");
	suggest(&cli->out, "cectl run --help", "limits, files, schemas, exit codes");
}

static int document(const struct tour *tour)
{
	struct cli *cli = tour->cli;
	struct value *map = value_map(&cli->arena);

	if (put(cli, map, "ok", value_bool(&cli->arena, tour->failed == 0)) < 0 ||
		put(cli, map, "acts", tour->acts) < 0)
		return cli_no_memory(cli);
	return cli_document(cli, map, tour->failed == 0 ? EXIT_OK : EXIT_FAILED);
}

static int play_all(struct tour *tour)
{
	int status = 0;

	for (size_t i = 0; i < demo_act_count && status == 0; i++)
		status = play(tour, &demo_acts[i]);
	return status != 0 ? status : show_record(tour);
}

/* With --json the telling goes nowhere and only the document is printed. */
static int run_silently(struct tour *tour)
{
	struct cli *cli = tour->cli;
	struct output loud = cli->out;
	FILE *nowhere = fopen("/dev/null", "we");
	int status;

	if (!nowhere)
		return cli_no_memory(cli);
	cli->out.file = nowhere;
	cli->json = false;
	status = play_all(tour);
	cli->out = loud;
	cli->json = true;
	(void)fclose(nowhere);
	return status != 0 ? status : document(tour);
}

static int run(struct cli *cli, const void *given)
{
	const struct demo_options *options = given;
	struct tour tour = { .cli = cli, .acts = value_list(&cli->arena) };
	int status;

	if (cli->json)
		return run_silently(&tour);
	page_wrapped(cli, PAINT_PLAIN,
		"ced runs programs that language models write, each in a jail of its own, "
		"and answers only when the run is on record.  Nothing here is staged: these "
		"four programs run now.",
		0);
	status = play_all(&tour);
	if (status != 0)
		return status;
	if (tour.failed > 0) {
		say(&cli->err, PAINT_RED, "cectl: %zu of %zu acts did not end as told\n",
			tour.failed, demo_act_count);
		return EXIT_FAILED;
	}
	suggest_next(cli, options);
	return EXIT_OK;
}

const struct command demo_command = {
	.name = "demo",
	.operands = "",
	.summary = "a short guided tour that really runs",
	.about =
		"Runs four programs and shows what comes of them: one whose JSON answer is checked "
		"against a schema, one refused by policy, one killed for flooding its output, one "
		"for memory; then the record and the timeline of the first.  Exits with 1 when one "
		"of them did not end as the tour says.",
	.options = rows,
	.options_size = sizeof(struct demo_options),
	.examples = examples,
	.run = run,
};
