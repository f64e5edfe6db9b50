#include "cli/commands/otlp.h"

#include <inttypes.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/digest.h"
#include "proto/fill.h"
#include "proto/version.h"

#define TRACE_ID_LEN 32 /* hex digits */
#define SPAN_ID_LEN  16
#define PARENT_LEN   55 /* 00-<trace id>-<span id>-<flags> */
#define TRACE_AT     3
#define SPAN_AT      36

enum {
	KIND_SERVER = 2,
	STATUS_OK = 1,
	STATUS_ERROR = 2,
};

/* The ids of a run's span, as hex digits. */
struct otlp_ids {
	char trace[TRACE_ID_LEN + 1];
	char span[SPAN_ID_LEN + 1];
	char parent[SPAN_ID_LEN + 1]; /* "": none */
};

/* ---- ids ------------------------------------------------------------------------------------- */

static bool is_id(const char *text, size_t len)
{
	return strspn(text, "0123456789abcdef") >= len && strspn(text, "0") < len;
}

/* Only version 00 has exactly these parts; a later one may have more behind them. */
static bool is_parent(const char *text)
{
	return text && strlen(text) == PARENT_LEN && strncmp(text, "00-", TRACE_AT) == 0 &&
	       is_id(text + TRACE_AT, TRACE_ID_LEN) && text[SPAN_AT - 1] == '-' &&
	       is_id(text + SPAN_AT, SPAN_ID_LEN) && text[SPAN_AT + SPAN_ID_LEN] == '-';
}

/* The first digits of a digest over what is named and the run's id. */
static void derive_id(char *ret_id, size_t len, const char *what, const char *run_id)
{
	char text[DIGEST_TEXT_LEN + 1];
	struct digest digest;

	digest_start(&digest);
	digest_add_sized(&digest, what, strlen(what));
	digest_add_sized(&digest, run_id, strlen(run_id));
	digest_end_text(&digest, text);
	memcpy(ret_id, text + strlen("sha256:"), len);
	ret_id[len] = '\0';
}

static struct otlp_ids ids_of(const struct value *record, const char *run_id)
{
	const struct value *labels = value_get(value_get(record, "request"), "labels");
	const char *parent = value_as_text(value_get(labels, OTLP_TRACE_LABEL));
	struct otlp_ids ids = { "", "", "" };

	derive_id(ids.span, SPAN_ID_LEN, "span", run_id);
	if (is_parent(parent)) {
		memcpy(ids.trace, parent + TRACE_AT, TRACE_ID_LEN);
		memcpy(ids.parent, parent + SPAN_AT, SPAN_ID_LEN);
	} else {
		derive_id(ids.trace, TRACE_ID_LEN, "trace", run_id);
	}
	return ids;
}

/* ---- attributes ------------------------------------------------------------------------------ */

static void add_attribute(struct value *list, const char *key, const char *kind,
	struct value *value, struct arena *arena)
{
	struct fill inner = fill_start(arena);
	struct fill fill = fill_start(arena);

	fill_value(&inner, kind, value);
	fill_text(&fill, "key", key);
	fill_value(&fill, "value", fill_done(&inner));
	(void)value_list_add(arena, list, fill_done(&fill));
}

static void add_text(struct value *list, const char *key, const char *text, struct arena *arena)
{
	if (text && text[0])
		add_attribute(list, key, "stringValue", value_text(arena, text), arena);
}

/* 64-bit numbers are text in this form. */
static struct value *number_text(int64_t number, struct arena *arena)
{
	char text[24];

	cut_printf(text, sizeof(text), "%" PRId64, number);
	return value_text(arena, text);
}

static void add_number(
	struct value *list, const char *key, const struct value *number, struct arena *arena)
{
	if (value_is(number, VALUE_INT))
		add_attribute(list, key, "intValue", number_text(number->integer, arena), arena);
}

/* Where an attribute stands in the record: map.key, or key. */
static const struct attribute {
	const char *key;
	const char *map, *of;
} attributes[] = {
	{ "ced.run_id", NULL, "run_id" },
	{ "ced.outcome", NULL, "outcome" },
	{ "ced.ran", NULL, "ran" },
	{ "ced.language", "request", "language" },
	{ "ced.agent", "request", "agent" },
	{ "ced.task", "request", "task" },
	{ "ced.policy", "policy", "name" },
	{ "ced.decision", "policy", "decision" },
	{ "ced.code_hash", NULL, "code_hash" },
	{ "ced.uid", "caller", "uid" },
	{ "ced.exit_code", NULL, "exit_code" },
	{ "ced.queue_us", "metrics", "queue_us" },
	{ "ced.exec_us", "metrics", "exec_us" },
	{ "ced.cpu_user_us", "metrics", "cpu_user_us" },
	{ "ced.cpu_sys_us", "metrics", "cpu_sys_us" },
	{ "ced.memory_peak_bytes", "metrics", "memory_peak_bytes" },
};

static struct value *attributes_of(const struct value *record, struct arena *arena)
{
	struct value *list = value_list(arena);

	for (size_t i = 0; i < COUNT_OF(attributes); i++) {
		const struct attribute *row = &attributes[i];
		const struct value *map = row->map ? value_get(record, row->map) : record;
		const struct value *found = value_get(map, row->of);

		add_text(list, row->key, value_as_text(found), arena);
		add_number(list, row->key, found, arena);
	}
	return list;
}

static struct value *resource(struct arena *arena)
{
	struct value *list = value_list(arena);
	struct fill fill = fill_start(arena);

	add_text(list, "service.name", "ced", arena);
	add_text(list, "service.version", CED_VERSION, arena);
	fill_value(&fill, "attributes", list);
	return fill_done(&fill);
}

/* ---- the span -------------------------------------------------------------------------------- */

static struct value *time_ns(int64_t us, struct arena *arena)
{
	return number_text(us * 1000, arena);
}

static struct value *events_of(const struct value *record, int64_t began_us, struct arena *arena)
{
	const struct value *trace = value_get(record, "trace");
	struct value *events = value_list(arena);

	for (size_t i = 0; value_at(trace, i); i++) {
		const struct value *step = value_at(trace, i);
		struct value *more = value_list(arena);
		struct fill fill = fill_start(arena);

		fill_value(&fill, "timeUnixNano",
			time_ns(began_us + value_as_int(value_get(step, "t_us"), 0), arena));
		fill_text(&fill, "name", value_as_text(value_get(step, "step")));
		add_text(more, "ced.phase", value_as_text(value_get(step, "phase")), arena);
		add_text(more, "ced.note", value_as_text(value_get(step, "note")), arena);
		fill_value(&fill, "attributes", more);
		(void)value_list_add(arena, events, fill_done(&fill));
	}
	return events;
}

static struct value *status_of(const struct value *record, struct arena *arena)
{
	bool ok = value_as_bool(value_get(record, "ok"), false);
	struct fill fill = fill_start(arena);

	fill_int(&fill, "code", ok ? STATUS_OK : STATUS_ERROR);
	if (!ok)
		fill_optional_text(&fill, "message", value_as_text(value_get(record, "reason")));
	return fill_done(&fill);
}

static struct value *span_of(const struct value *record, struct arena *arena)
{
	const char *run_id = value_as_text(value_get(record, "run_id"));
	const char *language = value_as_text(value_get(value_get(record, "request"), "language"));
	int64_t began_us = value_as_int(value_get(record, "received_us"), 0);
	int64_t ended_us = value_as_int(value_get(record, "ended_us"), began_us);
	const struct otlp_ids ids = ids_of(record, run_id ? run_id : "");
	struct fill fill = fill_start(arena);

	fill_text(&fill, "traceId", ids.trace);
	fill_text(&fill, "spanId", ids.span);
	fill_optional_text(&fill, "parentSpanId", ids.parent[0] ? ids.parent : NULL);
	fill_text(&fill, "name", language ? arena_printf(arena, "run %s", language) : "run");
	fill_int(&fill, "kind", KIND_SERVER);
	fill_value(&fill, "startTimeUnixNano", time_ns(began_us, arena));
	fill_value(&fill, "endTimeUnixNano", time_ns(ended_us, arena));
	fill_value(&fill, "attributes", attributes_of(record, arena));
	fill_value(&fill, "events", events_of(record, began_us, arena));
	fill_value(&fill, "status", status_of(record, arena));
	return fill_done(&fill);
}

/* {key: [item]} */
static void fill_only(struct fill *fill, const char *key, struct value *item)
{
	struct value *list = value_list(fill->arena);

	(void)value_list_add(fill->arena, list, item);
	fill_value(fill, key, list);
}

struct value *otlp_line(struct arena *arena, const struct value *record)
{
	struct fill scope = fill_start(arena);
	struct fill of_scope = fill_start(arena);
	struct fill of_resource = fill_start(arena);
	struct fill line = fill_start(arena);

	fill_text(&scope, "name", "ced");
	fill_text(&scope, "version", CED_VERSION);
	fill_value(&of_scope, "scope", fill_done(&scope));
	fill_only(&of_scope, "spans", span_of(record, arena));
	fill_value(&of_resource, "resource", resource(arena));
	fill_only(&of_resource, "scopeSpans", fill_done(&of_scope));
	fill_only(&line, "resourceSpans", fill_done(&of_resource));
	return fill_done(&line);
}
