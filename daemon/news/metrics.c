#include "daemon/news/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/fill.h"

/* A phase of a run that did not reach it took no time, so it is not counted. */
#define PHASE_IS_REACHED(us) ((us) > 0)

static const char *const phase_words[METRICS_PHASE_COUNT] = {
#define METRICS_PHASE(name, word, member) [METRICS_##name] = (word),
	METRICS_PHASES(METRICS_PHASE)
#undef METRICS_PHASE
};

struct metrics_series {
	uint64_t count;
};

void metrics_init(struct metrics *metrics)
{
	*metrics = (struct metrics){ 0 };
	map_init(&metrics->runs);
	map_init(&metrics->agents);
	map_init(&metrics->callers);
}

void metrics_done(struct metrics *metrics)
{
	map_done_with(&metrics->runs, free);
	map_done_with(&metrics->agents, free);
	map_done_with(&metrics->callers, free);
}

/* ---- counting ------------------------------------------------------------------------------- */

/* The series of this key.  NULL: the map has its most, or there is no memory. */
static struct metrics_series *series_of(struct map *map, size_t most, const char *key, size_t len)
{
	struct metrics_series *series = map_get(map, key, len);

	if (series || map->count >= most)
		return series;
	series = calloc(1, sizeof(*series));
	if (series && map_put(map, key, len, series, NULL) < 0) {
		free(series);
		return NULL;
	}
	return series;
}

/* "language\0policy\0outcome" in `key`; returns its length. */
static size_t runs_key(
	char key[METRICS_KEY_LEN], const char *language, const char *policy, enum outcome outcome)
{
	int len = snprintf(key, METRICS_KEY_LEN, "%s%c%s%c%s", language, '\0', policy, '\0',
		outcome_word(outcome));

	return len > 0 && len < METRICS_KEY_LEN ? (size_t)len : 0;
}

static void count_run(struct metrics *metrics, const struct metrics_run *run)
{
	const char *language = run->language ? run->language : "";
	const char *policy = run->policy ? run->policy : "";
	enum outcome outcome = run->result->outcome;
	struct metrics_series *series = NULL;
	char key[METRICS_KEY_LEN];
	size_t len = runs_key(key, language, policy, outcome);

	if (len)
		series = series_of(&metrics->runs, METRICS_RUNS_MOST, key, len);
	if (!series) {
		len = runs_key(key, METRICS_OTHER, METRICS_OTHER, outcome);
		series = series_of(&metrics->runs, METRICS_RUNS_MOST + OUTCOME_COUNT, key, len);
	}
	if (series)
		series->count++;
}

/* The series of this agent's name.  NULL: there is none, and its caller may add no more. */
static struct metrics_series *agent_series(struct metrics *metrics, const char *agent, uint32_t uid)
{
	struct metrics_series *series = map_get(&metrics->agents, agent, strlen(agent));
	struct metrics_series *added;

	if (series)
		return series;
	added = series_of(&metrics->callers, METRICS_AGENTS, (const char *)&uid, sizeof(uid));
	if (!added || added->count >= METRICS_AGENTS_OF)
		return NULL;
	series = series_of(&metrics->agents, METRICS_AGENTS, agent, strlen(agent));
	added->count += series != NULL;
	return series;
}

static void count_agent(struct metrics *metrics, const struct metrics_run *run)
{
	struct metrics_series *series;

	if (!run->agent || !run->agent[0])
		return;
	series = agent_series(metrics, run->agent, run->uid);
	if (!series)
		series = series_of(
			&metrics->agents, METRICS_AGENTS + 1, METRICS_OTHER, strlen(METRICS_OTHER));
	if (series)
		series->count++;
}

static void count_time(struct metrics_times *times, int64_t us)
{
	unsigned bucket = 0;

	if (!PHASE_IS_REACHED(us))
		return;
	while (bucket < METRICS_BUCKETS && us > (int64_t)METRICS_LOWEST_US << bucket)
		bucket++;
	times->buckets[bucket]++;
	times->count++;
	times->sum_us += (uint64_t)us;
}

void metrics_run_ended(struct metrics *metrics, const struct metrics_run *run)
{
	const struct job_metrics *used = &run->result->metrics;

	count_run(metrics, run);
	count_agent(metrics, run);
	if (run->result->cached_from[0]) {
		metrics->cached++;
		return;
	}
#define METRICS_PHASE(name, word, member) \
	count_time(&metrics->phases[METRICS_##name], used->member);
	METRICS_PHASES(METRICS_PHASE)
#undef METRICS_PHASE
	metrics->cpu_user_us += (uint64_t)used->cpu_user_us;
	metrics->cpu_sys_us += (uint64_t)used->cpu_sys_us;
	metrics->stdout_bytes += run->result->out.total;
	metrics->stderr_bytes += run->result->errout.total;
}

/* ---- families ------------------------------------------------------------------------------- */

struct value *metrics_family(struct value *families, const char *name, const char *type,
	const char *help, struct arena *arena)
{
	struct fill family = fill_start(arena);
	struct value *samples = value_list(arena);

	fill_text(&family, "name", name);
	fill_text(&family, "type", type);
	fill_text(&family, "help", help);
	fill_value(&family, "samples", samples);
	(void)value_list_add(arena, families, fill_done(&family));
	return samples;
}

static struct value *labels_to_value(const char *const *labels, struct arena *arena)
{
	struct fill map = fill_start(arena);

	for (; *labels; labels += 2)
		fill_text(&map, labels[0], labels[1]);
	return fill_done(&map);
}

void metrics_sample(
	struct value *samples, const char *const *labels, struct value *value, struct arena *arena)
{
	struct fill sample = fill_start(arena);

	fill_value(&sample, "labels", labels_to_value(labels, arena));
	fill_value(&sample, "value", value);
	(void)value_list_add(arena, samples, fill_done(&sample));
}

struct walk {
	struct value *samples;
	struct arena *arena;
};

static int add_runs(void *context, const void *key, size_t key_len, void *value)
{
	const struct walk *walk = context;
	const struct metrics_series *series = value;
	const char *language = key;
	const char *policy = language + strlen(language) + 1;
	const char *outcome = policy + strlen(policy) + 1;
	/* The map's key has no NUL at its end. */
	const char *word = arena_copy(walk->arena, outcome, key_len - (size_t)(outcome - language));
	const char *const labels[] = { "language", language, "policy", policy, "outcome", word,
		NULL };

	if (word)
		metrics_sample(
			walk->samples, labels, value_uint(walk->arena, series->count), walk->arena);
	return 0;
}

static int add_agent(void *context, const void *key, size_t key_len, void *value)
{
	const struct walk *walk = context;
	const struct metrics_series *series = value;
	const char *name = arena_copy(walk->arena, key, key_len);
	const char *const labels[] = { "agent", name, NULL };

	if (name)
		metrics_sample(
			walk->samples, labels, value_uint(walk->arena, series->count), walk->arena);
	return 0;
}

static double seconds(uint64_t us)
{
	return (double)us / 1e6;
}

/* [[0.00005, 3], [0.0001, 8], …]: each counts all times up to its bound. */
static struct value *buckets_to_value(const struct metrics_times *times, struct arena *arena)
{
	struct value *list = value_list(arena);
	uint64_t below = 0;

	for (unsigned i = 0; i < METRICS_BUCKETS; i++) {
		struct value *pair = value_list(arena);

		below += times->buckets[i];
		(void)value_list_add(
			arena, pair, value_real(arena, seconds((uint64_t)METRICS_LOWEST_US << i)));
		(void)value_list_add(arena, pair, value_uint(arena, below));
		(void)value_list_add(arena, list, pair);
	}
	return list;
}

static void add_phases(const struct metrics *metrics, struct value *families, struct arena *arena)
{
	struct value *samples = metrics_family(families, "ced_phase_seconds", "histogram",
		"Time that the phases of runs took.", arena);

	for (unsigned i = 0; i < METRICS_PHASE_COUNT; i++) {
		const struct metrics_times *times = &metrics->phases[i];
		const char *const labels[] = { "phase", phase_words[i], NULL };
		struct fill sample = fill_start(arena);

		fill_value(&sample, "labels", labels_to_value(labels, arena));
		fill_value(&sample, "buckets", buckets_to_value(times, arena));
		fill_value(&sample, "sum", value_real(arena, seconds(times->sum_us)));
		fill_uint(&sample, "count", times->count);
		(void)value_list_add(arena, samples, fill_done(&sample));
	}
}

/* "ced_cpu_seconds_total" of user and system. */
static void add_used(const struct metrics *metrics, struct value *families, struct arena *arena)
{
	static const char *const user[] = { "mode", "user", NULL };
	static const char *const system[] = { "mode", "system", NULL };
	static const char *const out[] = { "stream", "stdout", NULL };
	static const char *const err[] = { "stream", "stderr", NULL };
	static const char *const none[] = { NULL };
	struct value *cpu = metrics_family(families, "ced_cpu_seconds_total", "counter",
		"Processor time that runs used.", arena);
	struct value *output = metrics_family(families, "ced_output_bytes_total", "counter",
		"Bytes that runs wrote to stdout and stderr.", arena);
	struct value *cached = metrics_family(families, "ced_cached_results_total", "counter",
		"Runs that were answered with a known result.", arena);

	metrics_sample(cpu, user, value_real(arena, seconds(metrics->cpu_user_us)), arena);
	metrics_sample(cpu, system, value_real(arena, seconds(metrics->cpu_sys_us)), arena);
	metrics_sample(output, out, value_uint(arena, metrics->stdout_bytes), arena);
	metrics_sample(output, err, value_uint(arena, metrics->stderr_bytes), arena);
	metrics_sample(cached, none, value_uint(arena, metrics->cached), arena);
}

void metrics_add_runs(const struct metrics *metrics, struct value *families, struct arena *arena)
{
	struct walk walk = { .arena = arena };

	walk.samples = metrics_family(
		families, "ced_runs_total", "counter", "Runs that ended since the start.", arena);
	(void)map_each(&metrics->runs, add_runs, &walk);
	walk.samples = metrics_family(families, "ced_agent_runs_total", "counter",
		"The same by agent; past the ceiling of names: other.", arena);
	(void)map_each(&metrics->agents, add_agent, &walk);
	add_phases(metrics, families, arena);
	add_used(metrics, families, arena);
}
