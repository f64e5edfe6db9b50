#include "cli/mcp/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/terminal/output.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"

#define TICK_MS    1000
#define PACE_MS    200 /* between two that output causes */
#define NOTE_BYTES ((size_t)64 << 10)
#define HELD_BYTES ((size_t)1 << 20) /* a client that does not read gets no more progress */

static const char *const levels[] = { "debug", "info", "notice", "warning", "error", "critical",
	"alert", "emergency" };

int progress_level(const char *word)
{
	for (size_t i = 0; i < COUNT_OF(levels); i++) {
		if (strcmp(levels[i], word) == 0)
			return (int)i;
	}
	return -1;
}

void progress_log(struct server *server, const char *level, const char *text)
{
	struct arena arena;
	struct fill note;

	if (progress_level(level) < (int)server->level)
		return;
	arena_init(&arena, NOTE_BYTES);
	note = fill_start(&arena);
	fill_text(&note, "level", level);
	fill_text(&note, "logger", "ced");
	fill_text(&note, "data", text);
	jsonrpc_notify(&server->out, "notifications/message", fill_done(&note));
	arena_done(&arena);
}

static void tell(struct server *server, struct request *request, const char *text)
{
	struct arena arena;
	struct fill note;

	request->told_ms = clock_ms();
	if (!request->token || request->canceled || server->out.bytes.len > HELD_BYTES)
		return;
	arena_init(&arena, NOTE_BYTES);
	note = fill_start(&arena);
	fill_shared(&note, "progressToken", request->token);
	fill_int(&note, "progress", ++request->steps);
	fill_text(&note, "message", text);
	jsonrpc_notify(&server->out, "notifications/progress", fill_done(&note));
	arena_done(&arena);
}

/* ---- what the daemon says ------------------------------------------------------------------ */

/* By the run, or, before that is known, by the question. */
static struct request *find_run(struct server *server, const struct value *params)
{
	const char *run_id = value_as_text(value_get(params, "run_id"));
	int64_t asked = value_as_int(value_get(params, "msgid"), -1);

	for (size_t i = 0; run_id && i < REQUESTS_MAX; i++) {
		struct request *request = server->requests[i];

		if (request && requests_runs(request) &&
			(strcmp(request->run_id, run_id) == 0 || request->asked == asked))
			return request;
	}
	return NULL;
}

static void on_started(struct server *server, struct request *request, const struct value *params)
{
	char text[128];

	cut_printf(request->run_id, sizeof(request->run_id), "%s",
		value_as_text(value_get(params, "run_id")));
	cut_printf(text, sizeof(text), "The program is run %s.", request->run_id);
	tell(server, request, text);
}

static void on_output(struct server *server, struct request *request, const struct value *params)
{
	const struct value *data = value_get(params, "data");
	char text[128];

	if (value_is(data, VALUE_TEXT) || value_is(data, VALUE_BYTES))
		request->output_bytes += (int64_t)data->text.len;
	if (clock_ms() - request->told_ms < PACE_MS)
		return;
	cut_printf(text, sizeof(text), "The program has written %" PRId64 " bytes.",
		request->output_bytes);
	tell(server, request, text);
}

/* Said in any case: without it, the client would see a program that hangs. */
static void on_parked(struct server *server, struct request *request, const struct value *params)
{
	const struct value *findings = value_get(value_get(params, "policy"), "findings");
	struct arena arena;
	const char *text;

	arena_init(&arena, NOTE_BYTES);
	text = arena_printf(&arena,
		"Run %s waits for a person's approval%s%s. An approver decides with: cectl approve "
		"%s",
		request->run_id, value_at(findings, 0) ? ", because of the rule " : "",
		output_text(&arena, value_get(value_at(findings, 0), "rule")), request->run_id);
	if (text) {
		tell(server, request, text);
		progress_log(server, "notice", text);
	}
	arena_done(&arena);
}

static const struct {
	const char *method;
	void (*take)(struct server *server, struct request *request, const struct value *params);
} notices[] = {
	{ "run.started", on_started },
	{ "run.output", on_output },
	{ "run.parked", on_parked },
};

void progress_notice(struct server *server, const char *method, const struct value *params)
{
	struct request *request = find_run(server, params);

	for (size_t i = 0; request && i < COUNT_OF(notices); i++) {
		if (strcmp(notices[i].method, method) == 0)
			notices[i].take(server, request, params);
	}
}

/* ---- time ---------------------------------------------------------------------------------- */

bool progress_wanted(const struct server *server)
{
	for (size_t i = 0; i < REQUESTS_MAX; i++) {
		if (server->requests[i] && server->requests[i]->token)
			return true;
	}
	return false;
}

void progress_tick(struct server *server)
{
	int64_t now_ms = clock_ms();
	char text[128];

	for (size_t i = 0; i < REQUESTS_MAX; i++) {
		struct request *request = server->requests[i];

		if (!request || !request->token || now_ms - request->told_ms < TICK_MS)
			continue;
		cut_printf(text, sizeof(text), "No answer yet after %" PRId64 " s.",
			(now_ms - request->began_ms) / 1000);
		tell(server, request, text);
	}
}
