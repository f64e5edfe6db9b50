/*
 * Counts and percentiles of the runs that match a filter, from the newest back.
 *
 * All of them are read, up to a limit. Beyond it the oldest are left out, and the answer says so.
 */
#include <string.h>

#include "proto/base/container.h"
#include "store/base/db.h"
#include "store/base/fetch.h"
#include "store/read/histogram.h"
#include "store/read/run_walk.h"
#include "store/read/timeline.h"

#define RUNS_MOST   300000 /* a quarter of a second of cpu */
#define KEY_MS_BITS 20     /* a key is milliseconds, and so many bits more */
#define GROUPS_MAX  100    /* more agents than this share one group */
#define OTHERS      "(other)"
#define NOBODY      "(none)"
#define KEY_BYTES   256

#define auto_walk __attribute__((cleanup(walk_close)))

/* Runs with something in common. */
struct group {
	char key[KEY_BYTES];
	uint64_t runs;
	uint64_t ok;
	uint64_t cached;
	struct histogram *exec; /* NULL: not asked for */
	struct histogram *total;
};

struct stats {
	struct group all;
	uint64_t running;
	struct group *groups;
	size_t group_count;
	struct histogram *phases;
	struct timeline *over;
	bool more; /* older ones were left out */
};

static const struct {
	const char *by;
	const char *column; /* NULL: phases, which are not groups */
} kinds[] = {
	{ "outcome", "r.outcome" },
	{ "language", "r.language" },
	{ "agent", "r.agent" },
	{ "task", "r.task" },
	{ "policy", "r.policy" },
	{ "uid", "CAST(r.uid AS TEXT)" },
	{ "phase", NULL },
};

#define PHASE_COLUMN 4 /* of the row: the first phase */

/* In the order of PHASE_COLUMNS. */
enum phase {
	PHASE_QUEUE,
	PHASE_POLICY,
	PHASE_START,
	PHASE_EXECUTE,
	PHASE_COLLECT,
	PHASE_TOTAL,
	PHASE_COUNT
};

#define PHASE_COLUMNS ", r.queue_us, r.policy_us, r.start_us, r.exec_us, r.collect_us, r.total_us"
#define CACHED_COLUMN (PHASE_COLUMN + (int)PHASE_COUNT)

static const struct {
	const char *name;
	bool in_worker; /* only of runs that got so far */
} phases[PHASE_COUNT] = {
	[PHASE_QUEUE] = { "queue", true },
	[PHASE_POLICY] = { "policy", false },
	[PHASE_START] = { "start", true },
	[PHASE_EXECUTE] = { "execute", true },
	[PHASE_COLLECT] = { "collect", true },
	[PHASE_TOTAL] = { "total", false },
};

static int no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "the store: no memory for statistics");
}

/* ---- life --------------------------------------------------------------------------------- */

static int open_group(struct group *group, const char *key)
{
	*group = (struct group){ .exec = calloc(1, sizeof(*group->exec)),
		.total = calloc(1, sizeof(*group->total)) };
	(void)sqlite3_snprintf(KEY_BYTES, group->key, "%s", key);
	return group->exec && group->total ? 0 : -1;
}

static void close_group(struct group *group)
{
	free(group->exec);
	free(group->total);
	group->exec = NULL;
	group->total = NULL;
}

static void stats_done(struct stats *stats)
{
	close_group(&stats->all);
	for (size_t i = 0; i < stats->group_count; i++)
		close_group(&stats->groups[i]);
	free(stats->groups);
	free(stats->phases);
	free(stats->over);
	stats->over = NULL;
	stats->group_count = 0;
	stats->groups = NULL;
	stats->phases = NULL;
}

static int stats_init(struct stats *stats)
{
	*stats = (struct stats){ .groups = calloc(GROUPS_MAX + 1, sizeof(*stats->groups)),
		.phases = calloc(PHASE_COUNT, sizeof(*stats->phases)),
		.over = calloc(1, sizeof(*stats->over)) };
	if (open_group(&stats->all, "") < 0)
		return -1;
	return stats->groups && stats->phases && stats->over ? 0 : -1;
}

/* ---- counting ----------------------------------------------------------------------------- */

static struct group *find_group(struct stats *stats, const char *key)
{
	char name[KEY_BYTES];
	struct group *group;

	/* As it would be kept, so that a key that was cut is found again. */
	(void)sqlite3_snprintf(KEY_BYTES, name, "%s", key);
	for (size_t i = 0; i < stats->group_count; i++) {
		if (strcmp(stats->groups[i].key, name) == 0)
			return &stats->groups[i];
	}
	if (stats->group_count >= GROUPS_MAX && strcmp(name, OTHERS) != 0)
		return find_group(stats, OTHERS);
	group = &stats->groups[stats->group_count++];
	return open_group(group, name) < 0 ? NULL : group;
}

/* A run that was refused or denied took no time in a worker, and would lower the percentiles. */
static bool reached_a_worker(sqlite3_stmt *row)
{
	return sqlite3_column_int64(row, PHASE_COLUMN + 2) > 0;
}

static bool is_ok(sqlite3_stmt *row)
{
	const char *outcome = (const char *)sqlite3_column_text(row, 1);

	return outcome && strcmp(outcome, "ok") == 0;
}

static void count_run(struct group *group, sqlite3_stmt *row)
{
	group->runs++;
	group->ok += is_ok(row);
	if (sqlite3_column_type(row, CACHED_COLUMN) != SQLITE_NULL)
		group->cached++;
	if (reached_a_worker(row))
		histogram_add(group->exec, sqlite3_column_int64(row, PHASE_COLUMN + PHASE_EXECUTE));
	histogram_add(group->total, sqlite3_column_int64(row, PHASE_COLUMN + PHASE_TOTAL));
}

/* By the time in the run's id, which is what lists are ordered by. */
static void count_when(struct timeline *over, sqlite3_stmt *row)
{
	timeline_add(over, (sqlite3_column_int64(row, 0) >> KEY_MS_BITS) * 1000,
		sqlite3_column_int64(row, PHASE_COLUMN + PHASE_TOTAL), is_ok(row));
}

static int count_row(struct stats *stats, sqlite3_stmt *row, bool grouped)
{
	const char *key = (const char *)sqlite3_column_text(row, 2);
	struct group *group;

	if (sqlite3_column_type(row, 1) == SQLITE_NULL) {
		stats->running++;
		return 0;
	}
	count_run(&stats->all, row);
	count_when(stats->over, row);
	if (!grouped) {
		for (size_t i = 0; i < PHASE_COUNT; i++)
			if (!phases[i].in_worker || reached_a_worker(row))
				histogram_add(&stats->phases[i],
					sqlite3_column_int64(row, PHASE_COLUMN + (int)i));
		return 0;
	}
	group = find_group(stats, key ? key : NOBODY);
	if (!group)
		return -1;
	count_run(group, row);
	return 0;
}

static int count_all(struct stats *stats, struct store *store, const struct store_filter *filter,
	const char *column, struct err *err)
{
	auto_walk struct walk walk = { .store = store };
	sqlite3_stmt *row = NULL;
	char columns[256];
	int r;

	(void)sqlite3_snprintf(sizeof(columns), columns,
		"r.outcome, %s, r.received_us" PHASE_COLUMNS ", r.cached_from",
		column ? column : "NULL");
	if (walk_open(&walk, store, filter, columns, err) < 0)
		return -1;
	while ((r = walk_next(&walk, &row, err)) > 0 && stats->all.runs < RUNS_MOST) {
		if (count_row(stats, row, column != NULL) < 0)
			return no_memory(err);
	}
	stats->more = r > 0;
	return r < 0 ? -1 : 0;
}

/* ---- the answer --------------------------------------------------------------------------- */

static struct value *histogram_to_value(struct arena *arena, const struct histogram *histogram)
{
	struct fill fill = fill_start(arena);

	fill_int(&fill, "p50", histogram_at(histogram, 50));
	fill_int(&fill, "p90", histogram_at(histogram, 90));
	fill_int(&fill, "p99", histogram_at(histogram, 99));
	return fill_done(&fill);
}

static void put_group(struct fill *fill, const struct group *group)
{
	fill_uint(fill, "runs", group->runs);
	fill_uint(fill, "ok", group->ok);
	fill_uint(fill, "cached", group->cached);
	fill_value(fill, "exec_us", histogram_to_value(fill->arena, group->exec));
	fill_value(fill, "total_us", histogram_to_value(fill->arena, group->total));
}

static struct value *group_to_value(struct arena *arena, const void *groups, size_t index)
{
	const struct group *group = (const struct group *)groups + index;
	struct fill fill = fill_start(arena);

	fill_text(&fill, "key", group->key);
	put_group(&fill, group);
	return fill_done(&fill);
}

static struct value *phase_to_value(struct arena *arena, const void *histograms, size_t index)
{
	const struct histogram *histogram = (const struct histogram *)histograms + index;
	struct fill fill = fill_start(arena);

	fill_text(&fill, "key", phases[index].name);
	fill_uint(&fill, "runs", histogram->count);
	fill_value(&fill, "us", histogram_to_value(arena, histogram));
	return fill_done(&fill);
}

/* The oldest first. */
static struct value *slot_to_value(struct arena *arena, const void *timeline, size_t index)
{
	const struct timeline *over = timeline;
	size_t at = over->count - 1 - index;
	const struct timeline_slot *slot = &over->slots[at];
	struct fill fill = fill_start(arena);

	fill_int(&fill, "from_us", timeline_from_us(over, at));
	fill_uint(&fill, "runs", slot->runs);
	fill_uint(&fill, "ok", slot->ok);
	fill_int(&fill, "p50_us", histogram_at(&slot->total_us, 50));
	fill_int(&fill, "p99_us", histogram_at(&slot->total_us, 99));
	return fill_done(&fill);
}

static int by_size(const void *a, const void *b)
{
	const struct group *left = a;
	const struct group *right = b;

	if (left->runs != right->runs)
		return left->runs < right->runs ? 1 : -1;
	return strcmp(left->key, right->key);
}

static struct value *stats_to_value(
	struct arena *arena, struct stats *stats, const char *by, bool grouped)
{
	struct fill fill = fill_start(arena);

	put_group(&fill, &stats->all);
	fill_uint(&fill, "running", stats->running);
	fill_text(&fill, "grouped_by", by);
	fill_bool(&fill, "more", stats->more);
	fill_int(&fill, "slot_us", stats->over->width_us);
	fill_list(&fill, "over", stats->over->count, stats->over, slot_to_value);
	qsort(stats->groups, stats->group_count, sizeof(*stats->groups), by_size);
	if (grouped)
		fill_list(&fill, "by", stats->group_count, stats->groups, group_to_value);
	else
		fill_list(&fill, "by", PHASE_COUNT, stats->phases, phase_to_value);
	return fill_done(&fill);
}

int store_stats(struct store *store, const struct store_filter *filter, const char *by,
	struct arena *arena, struct value **ret_stats, struct err *err)
{
	__attribute__((cleanup(stats_done))) struct stats stats = { .running = 0 };
	struct value *answer;
	size_t kind = 0;

	while (kind < COUNT_OF(kinds) && strcmp(kinds[kind].by, by) != 0)
		kind++;
	if (kind == COUNT_OF(kinds))
		return err_set(err, ERR_INVALID,
			"statistics are by outcome, language, agent, task, policy, uid or phase");
	if (stats_init(&stats) < 0)
		return no_memory(err);
	if (count_all(&stats, store, filter, kinds[kind].column, err) < 0)
		return -1;
	answer = stats_to_value(arena, &stats, by, kinds[kind].column != NULL);
	if (!answer)
		return no_memory(err);
	*ret_stats = answer;
	return 0;
}
