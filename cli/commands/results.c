#include "cli/commands/results.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/exits.h"
#include "cli/base/interrupt.h"
#include "cli/base/outdir.h"
#include "cli/base/units.h"
#include "cli/commands/record.h"
#include "cli/commands/tool_commands.h"
#include "cli/session/page.h"
#include "proto/base/buf.h"
#include "proto/base/clock.h"

#define STREAM_MAX ((size_t)1 << 30)
#define CANCEL_MS  3000 /* for the daemon's answer, after a signal */

/* ---- while it waits for a person ------------------------------------------------------------ */

bool results_are_parked(const struct value *result)
{
	const char *state = value_as_text(value_get(result, "state"));

	return state && strcmp(state, "parked") == 0;
}

void results_note_parked(struct cli *cli, const struct value *parked)
{
	const struct value *policy = value_get(parked, "policy");
	const struct value *finding = value_at(value_get(policy, "findings"), 0);
	char left[UNITS_TEXT_MAX];

	units_print_us(left, page_int(parked, "until_us") - clock_wall_us());
	say(&cli->err, PAINT_YELLOW, "cectl: run %s waits for approval",
		page_text(cli, parked, "run_id"));
	say(&cli->err, PAINT_PLAIN, ", for at most %s: policy %s asks (%s, line %s)\n", left,
		page_text(cli, policy, "name"), page_text(cli, finding, "rule"),
		page_text(cli, finding, "line"));
}

/* The same of a call of a tool. */
static void note_call_asked(struct cli *cli, const struct value *asked)
{
	char left[UNITS_TEXT_MAX];

	units_print_us(left, page_int(asked, "until_us") - clock_wall_us());
	say(&cli->err, PAINT_YELLOW, "cectl: run %s, call %" PRId64 " of %s waits for approval",
		page_text(cli, asked, "run_id"), page_int(asked, "call"),
		page_text(cli, asked, "tool"));
	say(&cli->err, PAINT_PLAIN, ", for at most %s: policy %s asks (%s)\n", left,
		page_text(cli, asked, "policy"), page_text(cli, asked, "rule"));
}

/* ---- what it displays ----------------------------------------------------------------------- */

/* Always in safe form: whoever reads this is a person.  Other types are in --json and the record. */
static void show_displayed(struct cli *cli, const struct value *item)
{
	const struct value *text = value_get(value_get(item, "data"), "text/plain");
	struct passthrough stream;

	if (!page_is_bytes(text))
		return;
	passthrough_init(&stream, &cli->out);
	stream.escape = true;
	passthrough_write(&stream, text->text.bytes, text->text.len);
	if (!text->text.len || text->text.bytes[text->text.len - 1] != '\n')
		passthrough_write(&stream, "\n", 1);
	passthrough_end(&stream);
}

/* ---- while it runs ------------------------------------------------------------------------- */

static struct passthrough *find_stream(struct live *live, const struct value *params)
{
	const char *name = value_as_text(value_get(params, "stream"));

	if (name && strcmp(name, "stdout") == 0)
		return &live->out;
	return name && strcmp(name, "stderr") == 0 ? &live->err : NULL;
}

/* A note marks the place of the bytes that a truncated stream has lost. */
static void skip_to(struct live *live, struct passthrough *stream, uint64_t offset)
{
	const char *name = stream == &live->out ? "stdout" : "stderr";

	passthrough_end(stream);
	say(&live->cli->err, PAINT_DIM, "cectl: %" PRIu64 " bytes of %s left out here\n",
		offset - stream->passed, name);
	stream->passed = offset;
}

static void take_display(struct live *live, const struct value *item)
{
	progress_erase(&live->progress);
	show_displayed(live->cli, item);
	live->displayed++;
}

/* Whether something of it waits for a person now, or not any more. */
static void take_waiting(struct live *live, const char *method, const struct value *params)
{
	if (strcmp(method, "run.call") == 0 || strcmp(method, "run.call_over") == 0) {
		if (!live->canceling)
			live->progress.what = "running";
		return;
	}
	progress_erase(&live->progress);
	live->progress.what = "waiting for approval";
	if (strcmp(method, "run.parked") == 0)
		results_note_parked(live->cli, params);
	else
		note_call_asked(live->cli, params);
}

static int on_notice(void *context, const char *method, const struct value *params, struct err *err)
{
	struct live *live = context;
	struct passthrough *stream = find_stream(live, params);
	const struct value *data = value_get(params, "data");
	int64_t offset = value_as_int(value_get(params, "offset"), 0);

	if (strcmp(method, "run.parked") == 0 || strncmp(method, "run.call", 8) == 0)
		take_waiting(live, method, params);
	if (strcmp(method, "run.call") == 0 && live->answers) {
		progress_erase(&live->progress);
		return tool_commands_answer(live->cli, params, err);
	}
	if (strcmp(method, "run.started") == 0)
		cut_printf(live->run_id, sizeof(live->run_id), "%s",
			page_text(live->cli, params, "run_id"));
	if (strcmp(method, "session.ended") == 0)
		cut_printf(live->ended, sizeof(live->ended), "%s",
			page_text(live->cli, params, "why"));
	if (live->streams && strcmp(method, "run.display") == 0)
		take_display(live, params);
	if (!live->streams || strcmp(method, "run.output") != 0 || !stream ||
		!page_is_bytes(data) || offset < 0)
		return 0;
	progress_erase(&live->progress);
	if ((uint64_t)offset > stream->passed)
		skip_to(live, stream, (uint64_t)offset);
	passthrough_write_at(stream, (uint64_t)offset, data->text.bytes, data->text.len);
	return 0;
}

/* A signal cancels the run if it is ours; else it only ends the waiting. */
static void on_turn(void *context)
{
	struct live *live = context;
	struct cli *cli = live->cli;
	struct err err = ERR_INIT;

	if (!interrupt_noted() || live->canceling)
		return;
	progress_erase(&live->progress);
	live->canceling = true;
	live->canceling_ms = clock_ms();
	live->progress.what = "canceling";
	live->progress.ctrl_c = "leaves at once";
	if (live->cancels && client_cancel(cli->client, &err) == 0)
		return;
	if (live->run_id[0])
		say(&cli->err, PAINT_PLAIN,
			"cectl: run %s continues; wait for it: %s; end it: %s\n", live->run_id,
			cli_more(cli, "wait", live->run_id), cli_more(cli, "cancel", live->run_id));
	(void)fflush(cli->out.file);
	interrupt_pass_on();
}

/* The daemon cancels a run whose client has gone; its output is in the record. */
static void leave_late_answer(struct live *live)
{
	struct cli *cli = live->cli;

	say(&cli->err, PAINT_PLAIN,
		"cectl: the daemon has not answered for %d s; it cancels run %s%s%s\n",
		CANCEL_MS / 1000, live->run_id[0] ? live->run_id : "once it can",
		live->run_id[0] ? "; more: " : "",
		live->run_id[0] ? cli_more(cli, "show", live->run_id) : "");
	(void)fflush(cli->out.file);
	interrupt_pass_on();
}

static void on_idle(void *context, int64_t waited_ms)
{
	struct live *live = context;

	if (live->canceling && clock_ms() - live->canceling_ms > CANCEL_MS)
		leave_late_answer(live);
	if (live->out.passed > 0 || live->err.passed > 0)
		return; /* the program's own output shows that it lives */
	progress_update(&live->progress, waited_ms);
}

void live_init(struct live *live, struct cli *cli, bool streams)
{
	*live = (struct live){ .cli = cli,
		.streams = streams,
		.progress = { &cli->err, "running", "leaves; the run continues", false } };
	passthrough_init(&live->out, &cli->out);
	passthrough_init(&live->err, &cli->err);
	live->watch = (struct client_watch){
		.context = live,
		.on_notice = on_notice,
		.on_idle = on_idle,
	};
}

void live_cancels(struct live *live, struct value *params)
{
	struct arena *arena = &live->cli->arena;

	live->cancels = true;
	live->progress.ctrl_c = "cancels";
	if (!value_get(params, "announce")) /* the same params may be asked again and again */
		(void)value_map_put(arena, params, "announce", value_bool(arena, true));
}

int live_ask(struct live *live, const char *method, struct value *params,
	const struct value **ret_result)
{
	int status;

	live->watch.on_turn = on_turn;
	interrupt_catch();
	status = cli_ask(live->cli, method, params, &live->watch, ret_result);
	interrupt_release();
	progress_erase(&live->progress);
	return status;
}

/* ---- afterwards ---------------------------------------------------------------------------- */

/* A record holds only the beginning of a long stream; the store has the rest. */
static void show_stored_rest(struct live *live, struct passthrough *stream,
	const struct value *result, const char *which)
{
	const char *run_id = value_as_text(value_get(result, "run_id"));
	uint64_t total = (uint64_t)record_bytes(result, which);
	uint64_t at = stream->passed;
	struct buf buf;

	if (!run_id || at >= total || record_is_truncated(result, which))
		return;
	buf_init(&buf, STREAM_MAX);
	if (record_fetch(live->cli, run_id, which, &at, total, &buf) == 0 && buf.len > 0)
		passthrough_write(stream, buf.bytes, buf.len);
	buf_done(&buf);
}

/* The end of a truncated stream, unless it has been streamed already. */
static void show_tail(
	struct live *live, struct passthrough *stream, const struct value *result, const char *name)
{
	uint64_t total = (uint64_t)record_bytes(result, name);
	const struct value *tail;
	char key[32];

	cut_printf(key, sizeof(key), "%s_tail", name);
	tail = value_get(result, key);
	if (!page_is_bytes(tail) || tail->text.len > total || stream->passed >= total)
		return;
	if (total - tail->text.len > stream->passed)
		skip_to(live, stream, total - tail->text.len);
	passthrough_write_at(stream, total - tail->text.len, tail->text.bytes, tail->text.len);
}

static void show_stream(
	struct live *live, struct passthrough *stream, const struct value *result, const char *name)
{
	const struct value *head = value_get(result, name);

	if (page_is_bytes(head))
		passthrough_write_at(stream, 0, head->text.bytes, head->text.len);
	show_stored_rest(live, stream, result, name);
	show_tail(live, stream, result, name);
	passthrough_end(stream);
}

static int write_fetched(
	struct cli *cli, int dir, const struct value *result, const char *path, struct err *err)
{
	const char *run_id = value_as_text(value_get(result, "run_id"));
	const char *stream = arena_printf(&cli->arena, "artifact:%s", path);
	uint64_t at = 0;
	struct buf buf;
	int status;

	if (!run_id || !stream)
		return err_set(err, ERR_INVALID, "the answer holds no data for it");
	buf_init(&buf, STREAM_MAX);
	status = record_fetch(cli, run_id, stream, &at, UINT64_MAX, &buf);
	if (status == 0)
		status = outdir_write(dir, path, buf.bytes ? buf.bytes : "", buf.len, err);
	else
		status = err_set(err, ERR_MISSING, "the store does not have it");
	buf_done(&buf);
	return status;
}

/* On stderr alone: with --json the result is the document. */
static void complain(struct cli *cli, const struct err *err)
{
	say(&cli->err, PAINT_PLAIN, "cectl: %s\n", output_safe(&cli->arena, err->text));
}

/* A result holds its artifacts' data; a record may leave it in the store. */
static int write_one(
	struct cli *cli, int dir, const struct value *result, const struct value *artifact)
{
	const char *path = value_as_text(value_get(artifact, "path"));
	const struct value *data = value_get(artifact, "data");
	struct err err = ERR_INIT;
	int status;

	if (!path)
		status = err_set(&err, ERR_INVALID, "its path is not text");
	else if (page_is_bytes(data))
		status = outdir_write(dir, path, data->text.bytes, data->text.len, &err);
	else
		status = write_fetched(cli, dir, result, path, &err);
	if (status == 0)
		return 0;
	(void)err_wrap(&err, "artifact %s", path ? path : "without a name");
	complain(cli, &err);
	return -1;
}

int results_prepare_out(struct cli *cli, const char *path)
{
	struct err err = ERR_INIT;
	auto_fd int dir = path ? outdir_open(path, &err) : -1;

	return path && dir < 0 ? cli_fail(cli, &err) : 0;
}

static int write_artifacts(struct cli *cli, const struct value *result, const char *path)
{
	const struct value *artifacts = value_get(result, "artifacts");
	struct err err = ERR_INIT;
	auto_fd int dir = outdir_open(path, &err);
	int status = 0;

	if (dir < 0) {
		complain(cli, &err);
		return -1;
	}
	for (size_t i = 0; value_at(artifacts, i); i++) {
		if (write_one(cli, dir, result, value_at(artifacts, i)) < 0)
			status = -1;
	}
	return status;
}

static void hint_artifacts(struct cli *cli, const struct value *result)
{
	const struct value *artifacts = value_get(result, "artifacts");
	size_t count = value_is(artifacts, VALUE_LIST) ? artifacts->list.count : 0;

	if (count > 0)
		say(&cli->err, PAINT_PLAIN,
			"cectl: %zu artifact%s came back; --out DIR writes %s\n", count,
			count == 1 ? "" : "s", count == 1 ? "it" : "them");
}

static bool has_more_than_text(const struct live *live, const struct value *item)
{
	const struct value *data = value_get(item, "data");
	size_t texts = value_get(data, "text/plain") ? 1 : 0;

	if (live->json_is_text && value_get(data, "application/json"))
		texts++;
	return value_is(data, VALUE_MAP) && data->map.count > texts;
}

static void show_display(struct live *live, const struct value *result)
{
	const struct value *display = value_get(result, "display");
	struct cli *cli = live->cli;
	size_t more = 0;

	for (size_t i = live->displayed; value_at(display, i); i++)
		show_displayed(cli, value_at(display, i));
	for (size_t i = 0; value_at(display, i) && !more; i++)
		if (has_more_than_text(live, value_at(display, i)))
			more = i + 1;
	if (more)
		say(&cli->err, PAINT_PLAIN,
			"cectl: it displayed more than text: %s lists it, %s --display %zu > FILE\n",
			cli_more(cli, "show", page_text(cli, result, "run_id")),
			cli_more(cli, "output", page_text(cli, result, "run_id")), more);
	if (record_is_truncated(result, "display"))
		say(&cli->err, PAINT_PLAIN, "cectl: the rest of its display was left out\n");
	if (value_get(result, "display_broken"))
		say(&cli->err, PAINT_PLAIN, "cectl: the rest of its display could not be read\n");
}

/* The daemon stopped looking for artifacts, so what else there was has no path here. */
static void note_walk_ended(
	struct cli *cli, const struct value *result, const struct value *skipped)
{
	const struct value *artifacts = value_get(result, "artifacts");
	int64_t most = page_int(value_get(result, "limits"), "artifact_count");
	size_t count = value_is(artifacts, VALUE_LIST) ? artifacts->list.count : 0;

	say(&cli->err, PAINT_PLAIN, "cectl: more artifacts left out: %s",
		page_text(cli, skipped, "reason"));
	if (most > 0 && count >= (size_t)most)
		say(&cli->err, PAINT_PLAIN,
			"; at most %" PRId64
			" were asked for, --limit artifact_count=N asks for more",
			most);
	say(&cli->err, PAINT_PLAIN, "\n");
}

/* The program brought nothing back under a path that it was asked for. */
static void note_skipped(struct cli *cli, const struct value *result)
{
	const struct value *skipped = value_get(result, "artifacts_skipped");

	for (size_t i = 0; value_at(skipped, i); i++) {
		const struct value *one = value_at(skipped, i);

		if (!page_text(cli, one, "path")[0]) {
			note_walk_ended(cli, result, one);
			continue;
		}
		say(&cli->err, PAINT_PLAIN, "cectl: artifact %s left out: %s\n",
			output_text(&cli->arena, value_get(one, "path")),
			output_text(&cli->arena, value_get(one, "reason")));
	}
}

static void note_end(struct cli *cli, const struct value *result)
{
	const char *outcome = output_text(&cli->arena, value_get(result, "outcome"));
	const char *reason = output_text(&cli->arena, value_get(result, "reason"));
	const char *run_id = output_text(&cli->arena, value_get(result, "run_id"));
	const char *failing =
		page_text(cli, value_get(value_get(result, "budget"), "failing"), "message");

	say(&cli->err, PAINT_PLAIN, "cectl: ");
	say(&cli->err, output_outcome_paint(outcome), "%s", outcome);
	if (reason[0])
		say(&cli->err, PAINT_PLAIN, ": %s", reason);
	if (page_text(cli, value_get(result, "session"), "why")[0])
		say(&cli->err, PAINT_PLAIN,
			" Its session has ended: cectl session open opens another one.");
	if (strcmp(outcome, "cpu_limit") == 0) /* --timeout is of the wall clock alone */
		say(&cli->err, PAINT_PLAIN, " The option is --limit cpu=TIME.");
	if (run_id[0])
		say(&cli->err, PAINT_DIM, "  (run %s; more: %s)", run_id,
			cli_more(cli, "show", run_id));
	say(&cli->err, PAINT_PLAIN, "\n");
	if (failing[0])
		say(&cli->err, PAINT_DIM, "       %s\n", failing);
}

void results_note_undone(struct cli *cli, const struct value *result)
{
	const struct value *session = value_get(result, "session");
	const int64_t state = page_int(session, "went_back");

	if (!value_get(session, "went_back") || page_text(cli, session, "why")[0])
		return;
	say(&cli->err, PAINT_DIM, "cectl: this cell is undone; the session ");
	if (state)
		say(&cli->err, PAINT_DIM, "is back in state %" PRId64 "\n", state);
	else
		say(&cli->err, PAINT_DIM, "begins anew\n");
}

int results_show(struct live *live, const struct value *result, const char *out_dir)
{
	struct cli *cli = live->cli;
	bool is_pruned = value_is(value_get(result, "pruned"), VALUE_MAP);
	int status = exits_for_result(result);

	if (is_pruned) {
		say(&cli->err, PAINT_PLAIN,
			"cectl: the contents of run %s have left the store: act %s of cectl acts\n",
			page_text(cli, result, "run_id"),
			page_text(cli, value_get(result, "pruned"), "act"));
		status = status == EXIT_OK ? EXIT_SERVICE : status;
	} else if (out_dir && write_artifacts(cli, result, out_dir) < 0)
		status = status == EXIT_OK ? EXIT_SERVICE : status;
	if (cli->json)
		return cli_document(cli, result, status);
	show_stream(live, &live->out, result, "stdout");
	show_stream(live, &live->err, result, "stderr");
	show_display(live, result);
	if (!out_dir && !live->leaves_artifacts)
		hint_artifacts(cli, result);
	note_skipped(cli, result);
	if (!value_as_bool(value_get(result, "ok"), false))
		note_end(cli, result);
	results_note_undone(cli, result);
	return status;
}
