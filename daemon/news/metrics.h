/*
 * Metrics of runs since the daemon's start: how many ended, by language, policy, outcome and agent;
 * how long each phase took; what they used.  The method `metrics` (daemon/methods/methods_metrics.c)
 * makes families of them, together with the state of the daemon.
 *
 * Names come from clients, so their number has a ceiling.  Past it, and without memory, a run counts
 * under the name METRICS_OTHER.
 */
#pragma once

#include <stdint.h>

#include "proto/base/map.h"
#include "proto/job/job.h"
#include "proto/value.h"

#define METRICS_OTHER     "other"
#define METRICS_RUNS_MOST 1024 /* combinations of language, policy and outcome */
#define METRICS_AGENTS    256
#define METRICS_AGENTS_OF 128 /* names that one uid may add: one cannot take the others' */
#define METRICS_BUCKETS   22  /* the highest is 2^21 times the lowest */
#define METRICS_LOWEST_US 50  /* the highest bucket ends at 104.9 s; then comes +Inf */
#define METRICS_KEY_LEN   256

/* X(NAME, word, member of struct job_metrics) */
/* clang-format off */
#define METRICS_PHASES(X) \
	X(POLICY,  "policy",  policy_us) \
	X(QUEUE,   "queue",   queue_us) \
	X(START,   "start",   start_us) \
	X(EXEC,    "exec",    exec_us) \
	X(COLLECT, "collect", collect_us) \
	X(RECORD,  "record",  record_us) \
	X(TOTAL,   "total",   total_us)
/* clang-format on */

enum metrics_phase {
#define METRICS_PHASE(name, word, member) METRICS_##name,
	METRICS_PHASES(METRICS_PHASE)
#undef METRICS_PHASE
	METRICS_PHASE_COUNT,
};

/* Bucket i counts times of at most METRICS_LOWEST_US << i that fit in no lower bucket. */
struct metrics_times {
	uint64_t buckets[METRICS_BUCKETS + 1]; /* the last: all longer ones */
	uint64_t count;
	uint64_t sum_us;
};

struct metrics {
	struct map runs;    /* "language\0policy\0outcome" -> struct metrics_series */
	struct map agents;  /* name -> struct metrics_series */
	struct map callers; /* uid -> struct metrics_series: how many names it added */
	struct metrics_times phases[METRICS_PHASE_COUNT];
	uint64_t cpu_user_us, cpu_sys_us;
	uint64_t stdout_bytes, stderr_bytes;
	uint64_t cached;
};

void metrics_init(struct metrics *metrics);
void metrics_done(struct metrics *metrics);

/* A run whose result was recorded.  Texts may be NULL. */
struct metrics_run {
	const char *language, *policy, *agent;
	uint32_t uid;
	const struct job_result *result;
};

void metrics_run_ended(struct metrics *metrics, const struct metrics_run *run);

/*
 * Adds families to the list: {name, type, help, samples}.  A sample is {labels, value}, or of a
 * histogram {labels, buckets, sum, count}.
 */
void metrics_add_runs(const struct metrics *metrics, struct value *families, struct arena *arena);

/* Adds a family to the list and returns its samples. */
struct value *metrics_family(struct value *families, const char *name, const char *type,
	const char *help, struct arena *arena);

/* Adds a sample.  `labels` alternates names and values, and ends with NULL. */
void metrics_sample(
	struct value *samples, const char *const *labels, struct value *value, struct arena *arena);
