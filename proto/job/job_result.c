#include <stdio.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/base/utf8.h"
#include "proto/fill.h"
#include "proto/job/job.h"

/* ---- policy ------------------------------------------------------------------------------- */

static struct value *make_finding(struct arena *arena, const void *items, size_t index)
{
	const struct policy_finding *finding = (const struct policy_finding *)items + index;
	struct fill fill = fill_start(arena);

	fill_text(&fill, "rule", finding->rule);
	fill_text(&fill, "severity", finding->severity);
	fill_int(&fill, "line", finding->line);
	fill_int(&fill, "column", finding->column);
	fill_text(&fill, "text", finding->text);
	fill_text(&fill, "message", finding->message);
	fill_optional_text(&fill, "hint", finding->hint);
	return fill_done(&fill);
}

struct value *policy_verdict_to_value(struct arena *arena, const struct policy_verdict *verdict)
{
	struct fill fill = fill_start(arena);

	fill_text(&fill, "name", verdict->name);
	fill_text(&fill, "decision", policy_decision_word(verdict->decision));
	fill_list(&fill, "findings", verdict->finding_count, verdict->findings, make_finding);
	fill_text(&fill, "digest", verdict->digest);
	return fill_done(&fill);
}

/* ---- streams ------------------------------------------------------------------------------ */

/*
 * A truncated stream may end or begin inside a character.  This removes those bytes (at most three)
 * if the rest is a text.
 */
static struct bytes trimmed(struct bytes part, bool cut_in_front, bool cut_behind)
{
	struct bytes text = part;

	if (!part.len)
		return part;
	if (cut_behind)
		text.len = utf8_whole_prefix(text.data, text.len);
	if (cut_in_front) {
		size_t partial = utf8_skip_partial(text.data, text.len);

		text.data += partial;
		text.len -= partial;
	}
	return utf8_is_valid(text.data, text.len) ? text : part;
}

static bool has_tail(const struct job_stream *stream)
{
	return stream->truncated && stream->tail.len > 0;
}

static void put_stream(struct fill *fill, const char *name, const struct job_stream *stream)
{
	char key[32];

	fill_blob(fill, name, trimmed(stream->head, false, stream->truncated));
	if (has_tail(stream)) {
		(void)snprintf(key, sizeof(key), "%s_tail", name);
		fill_blob(fill, key, trimmed(stream->tail, true, false));
	}
	(void)snprintf(key, sizeof(key), "%s_bytes", name);
	fill_uint(fill, key, stream->total);
}

static struct value *make_text(struct arena *arena, const void *items, size_t index)
{
	const char *const *texts = items;

	return value_text(arena, texts[index]);
}

static void put_streams(struct fill *fill, const struct job_result *result)
{
	const char *truncated[3];
	size_t count = 0;

	put_stream(fill, "stdout", &result->out);
	put_stream(fill, "stderr", &result->errout);
	if (result->out.truncated)
		truncated[count++] = "stdout";
	if (result->errout.truncated)
		truncated[count++] = "stderr";
	if (result->display_truncated)
		truncated[count++] = "display";
	fill_list(fill, "truncated", count, truncated, make_text);
}

/* ---- artifacts ---------------------------------------------------------------------------- */

static const struct {
	const char *ending;
	const char *mime;
} mimes[] = {
	{ ".csv", "text/csv" },
	{ ".gif", "image/gif" },
	{ ".gz", "application/gzip" },
	{ ".htm", "text/html" },
	{ ".html", "text/html" },
	{ ".jpeg", "image/jpeg" },
	{ ".jpg", "image/jpeg" },
	{ ".json", "application/json" },
	{ ".md", "text/markdown" },
	{ ".parquet", "application/vnd.apache.parquet" },
	{ ".pdf", "application/pdf" },
	{ ".png", "image/png" },
	{ ".svg", "image/svg+xml" },
	{ ".webp", "image/webp" },
	{ ".xml", "application/xml" },
	{ ".zip", "application/zip" },
};

/* Chooses by the file name, because the program controls the bytes.  The result is only a hint. */
static const char *mime_of(const struct job_artifact *artifact)
{
	const char *ending = strrchr(artifact->path, '.');

	for (size_t i = 0; ending && i < COUNT_OF(mimes); i++) {
		if (strcasecmp(ending, mimes[i].ending) == 0)
			return mimes[i].mime;
	}
	if (utf8_is_valid(artifact->data.data, artifact->data.len))
		return "text/plain";
	return "application/octet-stream";
}

static struct value *make_artifact(struct arena *arena, const void *items, size_t index)
{
	const struct job_artifact *artifact = (const struct job_artifact *)items + index;
	struct fill fill = fill_start(arena);

	fill_blob(&fill, "path", (struct bytes){ artifact->path, strlen(artifact->path) });
	fill_uint(&fill, "bytes", artifact->data.len);
	fill_text(&fill, "sha256", artifact->sha256);
	fill_text(&fill, "mime", mime_of(artifact));
	fill_int(&fill, "mode", artifact->mode);
	fill_blob(&fill, "data", artifact->data);
	return fill_done(&fill);
}

static struct value *make_skipped(struct arena *arena, const void *items, size_t index)
{
	const struct job_skipped *skipped = (const struct job_skipped *)items + index;
	struct fill fill = fill_start(arena);

	fill_blob(&fill, "path", (struct bytes){ skipped->path, strlen(skipped->path) });
	fill_text(&fill, "reason", skipped->reason);
	return fill_done(&fill);
}

/* ---- numbers ------------------------------------------------------------------------------ */

static void put_metrics(struct fill *fill, const struct job_metrics *metrics)
{
	struct fill inner = fill_start(fill->arena);

#define PUT_METRIC(name) fill_int(&inner, #name, metrics->name)
	PUT_METRIC(queue_us);
	PUT_METRIC(policy_us);
	PUT_METRIC(start_us);
	PUT_METRIC(exec_us);
	PUT_METRIC(collect_us);
	if (metrics->record_us >= 0) /* negative: not known */
		PUT_METRIC(record_us);
	PUT_METRIC(total_us);
	PUT_METRIC(cpu_user_us);
	PUT_METRIC(cpu_sys_us);
	PUT_METRIC(memory_peak_bytes);
	PUT_METRIC(disk_bytes);
	PUT_METRIC(ctx_voluntary);
	PUT_METRIC(ctx_forced);
#undef PUT_METRIC
	fill_bool(&inner, "warm", metrics->warm);
	fill_value(fill, "metrics", fill_done(&inner));
}

struct value *job_limits_to_value(struct arena *arena, const struct job_limits *limits)
{
	struct fill fill = fill_start(arena);

	for (size_t i = 0; i < JOB_LIMIT_COUNT; i++)
		fill_uint(&fill, job_limit_names[i], limits->each[i]);
	return fill_done(&fill);
}

static void put_limits(struct fill *fill, const struct job_result *result)
{
	struct fill inner = { fill->arena, job_limits_to_value(fill->arena, &result->limits),
		false };

	fill_shared(&inner, "enforced_by", result->enforced_by);
	fill_value(fill, "limits", fill_done(&inner));
}

/* ---- the trace ---------------------------------------------------------------------------- */

static struct value *make_step(struct arena *arena, const void *items, size_t index)
{
	const struct job_step *step = (const struct job_step *)items + index;
	struct fill fill = fill_start(arena);

	fill_text(&fill, "step", step->step);
	fill_int(&fill, "t_us", step->t_us);
	fill_text(&fill, "phase", step->phase);
	fill_bool(&fill, "ok", step->ok);
	fill_optional_text(&fill, "note", step->note);
	return fill_done(&fill);
}

/* ---- the result --------------------------------------------------------------------------- */

static struct value *make_output_error(struct arena *arena, const void *items, size_t index)
{
	const struct job_output_error *error = (const struct job_output_error *)items + index;
	struct fill fill = fill_start(arena);

	fill_text(&fill, "pointer", error->pointer);
	fill_text(&fill, "schema_pointer", error->schema_pointer);
	fill_text(&fill, "message", error->message);
	return fill_done(&fill);
}

/* Puts a name such as "SIGKILL".  Real-time signals have no name and get "SIG" and the number. */
static void put_signal(struct fill *fill, int number)
{
	const char *name = sigabbrev_np(number);
	char text[32];

	if (name)
		(void)snprintf(text, sizeof(text), "SIG%s", name);
	else
		(void)snprintf(text, sizeof(text), "SIG%d", number);
	fill_text(fill, "signal", text);
}

static struct value *make_refused(struct arena *arena, const void *items, size_t index)
{
	const struct job_refused *refused = (const struct job_refused *)items + index;
	struct fill fill = fill_start(arena);

	fill_text(&fill, "call", refused->call);
	fill_optional_text(&fill, "kind", refused->kind);
	fill_text(&fill, "wish", refused->wish);
	fill_uint(&fill, "count", refused->count);
	fill_int(&fill, "first_us", refused->first_us);
	fill_bool(&fill, "ended", refused->ended);
	return fill_done(&fill);
}

static void put_ending(struct fill *fill, const struct job_result *result)
{
	fill_text(fill, "run_id", result->run_id);
	fill_optional_text(fill, "replay_of", result->replay_of);
	fill_text(fill, "outcome", outcome_word(result->outcome));
	fill_bool(fill, "ok", result->outcome == OUTCOME_OK);
	fill_text(fill, "reason", result->reason);
	fill_text(fill, "ran", ran_word(result->ran));
	if (result->has_exit_code)
		fill_int(fill, "exit_code", result->exit_code);
	if (result->signal)
		put_signal(fill, result->signal);
}

struct value *job_result_to_value(struct arena *arena, const struct job_result *result)
{
	struct fill fill = fill_start(arena);

	put_ending(&fill, result);
	put_streams(&fill, result);
	fill_shared(&fill, "display", result->display);
	if (result->display_broken)
		fill_bool(&fill, "display_broken", true);
	fill_shared(&fill, "value", result->value);
	fill_shared(&fill, "error", result->error);
	fill_shared(&fill, "evidence", result->evidence);
	if (result->refused_count)
		fill_list(&fill, "refused_calls", result->refused_count, result->refused,
			make_refused);
	if (result->refused_others)
		fill_uint(&fill, "refused_others", result->refused_others);
	fill_shared(&fill, "files", result->files);
	fill_shared(&fill, "calls", result->calls);
	fill_shared(&fill, "connections", result->connections);
	if (result->connections_others)
		fill_uint(&fill, "connections_others", result->connections_others);
	if (result->connections_others_bytes)
		fill_uint(&fill, "connections_others_bytes", result->connections_others_bytes);
	if (result->connections_lost)
		fill_bool(&fill, "connections_lost", true);
	if (result->output_error_count)
		fill_list(&fill, "output_errors", result->output_error_count, result->output_errors,
			make_output_error);
	if (result->has_verdict)
		fill_value(&fill, "policy", policy_verdict_to_value(arena, &result->verdict));
	fill_list(&fill, "artifacts", result->artifact_count, result->artifacts, make_artifact);
	fill_list(&fill, "artifacts_skipped", result->skipped_count, result->skipped, make_skipped);
	put_metrics(&fill, &result->metrics);
	put_limits(&fill, result);
	if (result->code_hash[0])
		fill_text(&fill, "code_hash", result->code_hash);
	if (result->input_hash[0])
		fill_text(&fill, "input_hash", result->input_hash);
	fill_shared(&fill, "runtime", result->runtime);
	fill_shared(&fill, "session", result->session);
	fill_bool(&fill, "cached", result->cached_from[0] != '\0');
	if (result->cached_from[0])
		fill_text(&fill, "cached_from", result->cached_from);
	if (result->attempt)
		fill_uint(&fill, "attempt", result->attempt);
	fill_shared(&fill, "budget", result->budget);
	if (result->masks)
		fill_uint(&fill, "masks", result->masks);
	fill_shared(&fill, "approval", result->approval);
	if (result->step_count)
		fill_list(&fill, "trace", result->step_count, result->steps, make_step);
	return fill_done(&fill);
}
