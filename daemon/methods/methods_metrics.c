/* The methods health and admin.metrics: made from the state of the daemon, which admin.status answers. */
#include <string.h>

#include "daemon/methods/health.h"
#include "daemon/methods/methods.h"
#include "daemon/news/metrics.h"
#include "daemon/services.h"
#include "proto/base/container.h"
#include "proto/version.h"

void method_health_found(struct call *call, struct value *store_status)
{
	struct arena *arena = &call->arena;
	const struct value *status = status_describe(call->services, store_status, arena);

	call_result(call, health_look(call->services->health, status, arena));
}

/* ---- families of the state ------------------------------------------------------------------- */

/* A number or truth of the status.  Rows of one family follow each other. */
static const struct gauge {
	const char *name, *type, *help;
	const char *map, *key;     /* in the status: map.key, or key */
	const char *label, *value; /* or NULL */
} gauges[] = {
	// clang-format off
	{ "ced_ready", "gauge", "1 since a worker was warm and programs could be checked.", NULL, "ready", NULL, NULL },
	{ "ced_draining", "gauge", "1 when the daemon was asked to stop.", NULL, "draining", NULL, NULL },
	{ "ced_drained", "gauge", "1 while an administrator has stopped new runs.", NULL, "drained", NULL, NULL },
	{ "ced_uptime_seconds", "gauge", "Time since the start.", NULL, "uptime_s", NULL, NULL },
	{ "ced_connections", "gauge", "Open connections of clients.", NULL, "connections", NULL, NULL },
	{ "ced_held_bytes", "gauge", "Memory of requests and replies.", NULL, "held_bytes", NULL, NULL },
	{ "ced_runs_in_progress", "gauge", "Runs between arrival and answer.", NULL, "in_progress", NULL, NULL },
	{ "ced_runs_queued", "gauge", "Runs that wait for a worker.", NULL, "queued", NULL, NULL },
	{ "ced_runs_parked", "gauge", "Runs that wait for a person's approval.", NULL, "parked", NULL, NULL },
	{ "ced_sessions", "gauge", "Open sessions.", NULL, "sessions", NULL, NULL },
	{ "ced_subscriptions", "gauge", "Subscriptions to events.", NULL, "subscriptions", NULL, NULL },
	{ "ced_inspectors", "gauge", "Processes that read programs for the policy.", "inspectors", "alive", "state", "alive" },
	{ "ced_inspectors", "", "", "inspectors", "ready", "state", "ready" },
	{ "ced_inspector_queue", "gauge", "Programs that wait for an inspector.", "inspectors", "waiting", NULL, NULL },
	{ "ced_inspections_total", "counter", "Programs that inspectors have read.", "inspectors", "answered", "result", "answered" },
	{ "ced_inspections_total", "", "", "inspectors", "late", "result", "late" },
	{ "ced_inspections_total", "", "", "inspectors", "lost", "result", "lost" },
	{ "ced_verdicts_total", "counter", "Verdicts asked for, by whether one was remembered.", "inspectors", "hits", "remembered", "yes" },
	{ "ced_verdicts_total", "", "", "inspectors", "misses", "remembered", "no" },
	{ "ced_store_commits_total", "counter", "Transactions of the store.", NULL, "commits", NULL, NULL },
	{ "ced_store_records_total", "counter", "Records in these transactions.", NULL, "records", NULL, NULL },
	{ "ced_store_runs", "gauge", "Runs in the store.", "store", "runs", NULL, NULL },
	{ "ced_store_unsettled", "gauge", "Runs whose words are not indexed yet.", "store", "unsettled", NULL, NULL },
	{ "ced_store_bytes", "gauge", "Size of the store's file.", "store", "bytes", "file", "database" },
	{ "ced_store_bytes", "", "", "store", "wal_bytes", "file", "log" },
	{ "ced_store_free_bytes", "gauge", "Free room on the store's disk.", "store", "free_bytes", NULL, NULL },
	{ "ced_record_trouble_seconds", "gauge", "For how long nothing could be recorded.", NULL, "trouble_ms", NULL, NULL },
	{ "ced_audit_links", "gauge", "Records that the last checkpoint since the start signs.", "audit", "links", NULL, NULL },
	{ "ced_alerts_raised_total", "counter", "Alerts that were raised.", "alerts", "raised", NULL, NULL },
	{ "ced_messages_dropped_total", "counter", "Messages that the log or the journal did not take.", "messages", "log_dropped", "to", "log" },
	{ "ced_messages_dropped_total", "", "", "messages", "journal_dropped", "to", "journal" },
	{ "ced_gc_runs_total", "counter", "Runs whose contents were deleted.", "gc", "runs", NULL, NULL },
	{ "ced_gc_bytes_total", "counter", "Bytes that this gave back.", "gc", "bytes", NULL, NULL },
	{ "ced_clock_jumps_total", "counter", "How often the wall clock was set.", "clock", "jumps", NULL, NULL },
	// clang-format on
};

/* Numbers of each runtime; rows of one family follow each other. */
static const struct gauge runtime_gauges[] = {
	// clang-format off
	{ "ced_workers", "gauge", "Workers by state.", NULL, "warm", "state", "warm" },
	{ "ced_workers", "", "", NULL, "making", "state", "making" },
	{ "ced_workers", "", "", NULL, "running", "state", "running" },
	{ "ced_workers", "", "", NULL, "ending", "state", "ending" },
	{ "ced_workers_wanted", "gauge", "Workers that are to be kept.", NULL, "wanted", NULL, NULL },
	{ "ced_worker_runs_total", "counter", "Runs that got a worker.", NULL, "runs", NULL, NULL },
	{ "ced_worker_waits_total", "counter", "Of these, runs that came while no worker was warm.", NULL, "waited", NULL, NULL },
	// clang-format on
};

/* Times in the status are in milliseconds; Prometheus counts seconds. */
static struct value *gauge_number(
	const struct gauge *gauge, const struct value *found, struct arena *arena)
{
	if (value_is(found, VALUE_BOOL))
		return value_int(arena, found->boolean);
	if (strcmp(gauge->key, "trouble_ms") == 0)
		return value_real(arena, (double)value_as_int(found, 0) / 1000);
	if (value_is(found, VALUE_INT) || value_is(found, VALUE_UINT))
		return value_copy(arena, found);
	return NULL;
}

/* The samples of the row's family, which is made at the first row that has a number. */
static struct value *samples_of(const struct gauge *rows, size_t row, struct value *families,
	struct value *current, struct arena *arena)
{
	const struct gauge *gauge = &rows[row];

	if (!gauge->type[0])
		return current;
	return metrics_family(families, gauge->name, gauge->type, gauge->help, arena);
}

static void add_gauges(const struct value *status, struct value *families, struct arena *arena)
{
	struct value *samples = NULL;

	for (size_t i = 0; i < COUNT_OF(gauges); i++) {
		const struct gauge *gauge = &gauges[i];
		const struct value *map = gauge->map ? value_get(status, gauge->map) : status;
		const char *const labels[] = { gauge->label, gauge->value, NULL };
		struct value *number = gauge_number(gauge, value_get(map, gauge->key), arena);

		samples = samples_of(gauges, i, families, samples, arena);
		if (number)
			metrics_sample(samples, labels, number, arena);
	}
}

static void add_runtime_gauges(
	const struct value *status, struct value *families, struct arena *arena)
{
	const struct value *runtimes = value_get(status, "runtimes");
	struct value *samples = NULL;

	for (size_t i = 0; i < COUNT_OF(runtime_gauges); i++) {
		const struct gauge *gauge = &runtime_gauges[i];

		samples = samples_of(runtime_gauges, i, families, samples, arena);
		for (size_t j = 0; value_at(runtimes, j); j++) {
			const struct value *runtime = value_at(runtimes, j);
			const char *const labels[] = { "runtime",
				value_as_text(value_get(runtime, "name")), gauge->label,
				gauge->value, NULL };
			struct value *number =
				gauge_number(gauge, value_get(runtime, gauge->key), arena);

			if (labels[1] && number)
				metrics_sample(samples, labels, number, arena);
		}
	}
}

static void add_build(struct value *families, struct arena *arena)
{
	static const char *const labels[] = { "version", CED_VERSION, NULL };

	metrics_sample(metrics_family(families, "ced_build_info", "gauge",
			       "1, with the daemon's version.", arena),
		labels, value_int(arena, 1), arena);
}

static void add_health(struct value *families, const struct value *health, struct arena *arena)
{
	static const char *const none[] = { NULL };
	const char *word = value_as_text(value_get(health, "status"));
	const struct value *faults = value_get(health, "faults");
	struct value *samples = metrics_family(
		families, "ced_healthy", "gauge", "1 while no part has a fault.", arena);

	metrics_sample(samples, none,
		value_int(arena, word && strcmp(word, health_word(HEALTH_OK)) == 0), arena);
	samples = metrics_family(families, "ced_fault_since_seconds", "gauge",
		"Since when a part has a fault, in seconds since 1970; without a fault no sample.",
		arena);
	for (size_t i = 0; value_at(faults, i); i++) {
		const struct value *fault = value_at(faults, i);
		const char *const labels[] = { "part", value_as_text(value_get(fault, "part")),
			"level", value_as_text(value_get(fault, "level")), NULL };

		if (labels[1] && labels[3])
			metrics_sample(samples, labels,
				value_real(arena,
					(double)value_as_int(value_get(fault, "since_us"), 0) /
						1e6),
				arena);
	}
}

void method_metrics_found(struct call *call, struct value *store_status)
{
	struct services *services = call->services;
	struct arena *arena = &call->arena;
	const struct value *status = status_describe(services, store_status, arena);
	struct value *families = value_list(arena);
	struct value *result = value_map(arena);

	add_build(families, arena);
	add_health(families, health_look(services->health, status, arena), arena);
	add_gauges(status, families, arena);
	add_runtime_gauges(status, families, arena);
	metrics_add_runs(services->metrics, families, arena);
	(void)value_map_put(arena, result, "families", families);
	call_result(call, result);
}
