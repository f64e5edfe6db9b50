/*
 * What it costs to ask a large store, and whether a large one is slower to write to:
 *
 *   bench_ask FOLDER [ROUNDS]      FOLDER as grow_store made it; runs are added to it
 *
 * Questions are asked as a reader of the daemon asks them, for the newest page and for pages that
 * begin anywhere.  Records are written in turn to this store and to an empty one beside it.
 * Exits with 1 when something that is promised is not kept.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/herd.h"
#include "proto/base/cleanup.h"
#include "proto/base/clock.h"
#include "proto/base/container.h"

#define ARENA_BYTES   ((size_t)1 << 30)
#define ROUNDS        40
#define RECORD_ROUNDS 2000
#define MARKS_MAX     512
#define PAGE          20

struct bench {
	struct store *store;
	struct arena arena;
	char (*marks)[RUN_ID_LEN + 1]; /* runs from all over the store, the newest first */
	size_t mark_count;
	size_t next;
	int rounds;
	bool missed;
};

static int die(const char *what, const struct err *err)
{
	(void)fprintf(stderr, "bench_ask: %s: %s\n", what, err->text);
	exit(1);
}

static int by_size(const void *a, const void *b)
{
	double left = *(const double *)a;
	double right = *(const double *)b;

	return left < right ? -1 : left > right;
}

/* One line of the table; `most_ms` 0: nothing is promised. */
static void tell(struct bench *bench, const char *name, double *us, int count, double most_ms)
{
	double nearly_worst;

	qsort(us, (size_t)count, sizeof(*us), by_size);
	nearly_worst = us[(count - 1) * 99 / 100] / 1e3;
	(void)printf("  %-34s %9.3f %9.3f %9.3f", name, us[count / 2] / 1e3,
		us[(count - 1) * 9 / 10] / 1e3, nearly_worst);
	if (most_ms > 0)
		(void)printf("  %5.0f %s", most_ms, nearly_worst <= most_ms ? "kept" : "MISSED");
	(void)printf("\n");
	bench->missed = bench->missed || (most_ms > 0 && nearly_worst > most_ms);
}

/* ---- asking ------------------------------------------------------------------------------- */

static size_t list(struct bench *bench, const struct store_filter *filter, struct value **ret_page)
{
	struct err err = ERR_INIT;

	if (store_list(bench->store, filter, &bench->arena, ret_page, &err) < 0)
		die("list", &err);
	return value_get(*ret_page, "runs")->list.count;
}

/* Page by page of a thousand would take long: each begins somewhat below the one before. */
static void find_marks(struct bench *bench)
{
	struct store_filter filter = { .all_callers = true, .limit = 1 };
	struct value *page = NULL;
	int64_t now_us = clock_wall_us();
	int64_t step_us = (int64_t)91 * 86400 * 1000000 / MARKS_MAX;

	bench->marks = calloc(MARKS_MAX, sizeof(*bench->marks));
	for (int i = 0; bench->marks && i < MARKS_MAX; i++) {
		filter.until_wall_us = now_us - i * step_us;
		if (list(bench, &filter, &page) == 0)
			break;
		cut_printf(bench->marks[bench->mark_count++], RUN_ID_LEN + 1, "%s",
			value_as_text(value_get(value_at(value_get(page, "runs"), 0), "run_id")));
		arena_done(&bench->arena);
	}
}

static const char *next_mark(struct bench *bench)
{
	bench->next = (bench->next + 97) % bench->mark_count;
	return bench->marks[bench->next];
}

/* Half of the pages are the newest, half begin anywhere. */
static void time_filter(
	struct bench *bench, const char *name, struct store_filter filter, double most_ms)
{
	auto_free double *us = calloc((size_t)bench->rounds, sizeof(*us));
	char title[64];
	size_t found = 0;

	filter.limit = filter.limit ? filter.limit : PAGE;
	for (int i = 0; us && i < bench->rounds; i++) {
		struct value *page = NULL;
		int64_t start_us;
		size_t count;

		filter.before_run_id = i % 2 ? next_mark(bench) : NULL;
		start_us = clock_us();
		count = list(bench, &filter, &page);
		us[i] = (double)(clock_us() - start_us);
		found = i == 0 ? count : found;
		arena_done(&bench->arena);
	}
	cut_printf(title, sizeof(title), "%s (%zu)", name, found);
	tell(bench, title, us, bench->rounds, most_ms);
}

static void time_filters(struct bench *bench)
{
	struct value *page = NULL;
	struct value *newest;
	char hash[HASH_TEXT_LEN + 1];
	struct store_filter filter = { .all_callers = true, .limit = 1 };
	const struct {
		const char *name;
		struct store_filter filter;
	} tries[] = {
		{ "no filter", { .all_callers = true } },
		{ "no filter, 1000", { .all_callers = true, .limit = 1000 } },
		{ "outcome ok", { .all_callers = true, .outcome = "ok" } },
		{ "outcome lost", { .all_callers = true, .outcome = "lost" } },
		{ "outcome running", { .all_callers = true, .outcome = "running" } },
		{ "language python", { .all_callers = true, .language = "python" } },
		{ "language none has", { .all_callers = true, .language = "cobol" } },
		{ "uid, the busiest",
			{ .all_callers = true, .has_uid_filter = true, .uid_filter = 1000 } },
		{ "uid, own runs only", { .uid = 1011 } },
		{ "agent, the busiest", { .all_callers = true, .agent = "agent-00" } },
		{ "agent, the laziest", { .all_callers = true, .agent = "agent-39" } },
		{ "task", { .all_callers = true, .task = "task-000100" } },
		{ "policy", { .all_callers = true, .policy = "open" } },
		{ "rule", { .all_callers = true, .rule = "python.import.denied" } },
		{ "rule, 1000",
			{ .all_callers = true, .rule = "python.open.write", .limit = 1000 } },
		{ "code hash", { .all_callers = true, .code_hash = hash } },
		{ "label env=prod",
			{ .all_callers = true, .label_key = "env", .label_value = "prod" } },
		{ "label project=p-07",
			{ .all_callers = true, .label_key = "project", .label_value = "p-07" } },
		{ "since a week ago",
			{ .all_callers = true,
				.since_wall_us = clock_wall_us() - INT64_C(604800000000) } },
		{ "own, outcome lost", { .uid = 1011, .outcome = "lost" } },
		{ "own, policy, language",
			{ .uid = 1011, .policy = "open", .language = "javascript" } },
	};

	(void)list(bench, &filter, &page);
	newest = value_at(value_get(page, "runs"), 0);
	cut_printf(hash, sizeof(hash), "%s", value_as_text(value_get(newest, "code_hash")));
	(void)printf("\n  %-34s %9s %9s %9s  %5s\n", "a page, ms", "p50", "p90", "p99", "most");
	for (size_t i = 0; i < COUNT_OF(tries); i++)
		time_filter(bench, tries[i].name, tries[i].filter, 50);
}

static void time_words(struct bench *bench)
{
	static const unsigned ranks[] = { 0, 3, 30, 300, 3000, 19000 };
	static const char *const questions[] = { "print", "import json", "not defined",
		"\"name is not defined\"", "raise ValueError", "nowhere", "rows == ms", "traceback",
		"load_nufu", HERD_OLD_WORD };
	char word[16];

	(void)printf("\n  %-34s %9s %9s %9s  %5s\n", "text, ms", "p50", "p90", "p99", "most");
	for (size_t i = 0; i < COUNT_OF(questions); i++)
		time_filter(bench, questions[i],
			(struct store_filter){ .all_callers = true, .text = questions[i] }, 200);
	for (size_t i = 0; i < COUNT_OF(ranks); i++) {
		herd_word(ranks[i], word);
		time_filter(bench, word, (struct store_filter){ .all_callers = true, .text = word },
			200);
	}
	herd_word(300, word);
	time_filter(
		bench, "own runs only", (struct store_filter){ .uid = 1011, .text = word }, 200);
}

static void time_show(struct bench *bench)
{
	auto_free double *us = calloc(MARKS_MAX, sizeof(*us));

	for (size_t i = 0; us && i < bench->mark_count; i++) {
		struct value *record = NULL;
		struct err err = ERR_INIT;
		int64_t start_us = clock_us();
		char run_id[RUN_ID_LEN + 1];
		uint32_t uid = 0;
		struct store_filter filter = { .all_callers = true };

		if (store_resolve(bench->store, &filter, next_mark(bench), run_id, &err) != 0 ||
			store_get(bench->store, run_id, 64 << 10, &bench->arena, &record, &uid,
				&err) != 0)
			die("get", &err);
		us[i] = (double)(clock_us() - start_us);
		arena_done(&bench->arena);
	}
	(void)printf("\n");
	tell(bench, "show, ms", us, (int)bench->mark_count, 10);
}

static void time_stats(struct bench *bench)
{
	static const char *const kinds[] = { "outcome", "agent", "phase" };
	auto_free double *us = calloc(3, sizeof(*us));

	for (size_t i = 0; us && i < COUNT_OF(kinds); i++) {
		struct store_filter filter = { .all_callers = true };
		struct value *stats = NULL;
		struct err err = ERR_INIT;
		int64_t start_us = clock_us();

		if (store_stats(bench->store, &filter, kinds[i], &bench->arena, &stats, &err) < 0)
			die("stats", &err);
		us[i] = (double)(clock_us() - start_us);
		arena_done(&bench->arena);
	}
	tell(bench, "stats over everything, ms", us, COUNT_OF(kinds), 1000);
}

/* ---- writing ------------------------------------------------------------------------------ */

static double time_record(struct store *store, const struct store_run *run)
{
	struct store_run begun = *run;
	struct err err = ERR_INIT;
	int64_t start_us;

	begun.result = NULL;
	if (store_begin(store, &err) < 0 || store_put_begun(store, &begun, &err) < 0 ||
		store_commit(store, STORE_SOON, &err) < 0)
		die("begun", &err);
	start_us = clock_us();
	if (store_begin(store, &err) < 0 || store_put_ended(store, run, &err) < 0 ||
		store_commit(store, STORE_NOW, &err) < 0)
		die("ended", &err);
	return (double)(clock_us() - start_us);
}

/* What idle moments do: the longest of them. */
static double time_tidy(struct store *store)
{
	struct err err = ERR_INIT;
	double longest = 0;
	int left;

	do {
		int64_t start_us = clock_us();

		left = store_tidy(store, &err);
		if (left < 0)
			die("tidy", &err);
		if ((double)(clock_us() - start_us) > longest)
			longest = (double)(clock_us() - start_us);
	} while (left > 0);
	return longest;
}

static struct store *open_empty(const char *folder, char *ret_path, size_t size)
{
	struct err err = ERR_INIT;
	struct store *store;

	cut_printf(ret_path, size, "%s/empty-XXXXXX", folder);
	if (!mkdtemp(ret_path))
		die("folder", &err);
	store = store_open(ret_path, STORE_WRITE, &err);
	if (!store)
		die("open", &err);
	return store;
}

static void remove_empty(const char *path)
{
	static const char *const files[] = { "ced.db", "ced.db-wal", "ced.db-shm", "ced.lock" };
	char whole[4200];

	for (size_t i = 0; i < COUNT_OF(files); i++) {
		cut_printf(whole, sizeof(whole), "%s/%s", path, files[i]);
		(void)unlink(whole);
	}
	(void)rmdir(path);
}

static void time_records(struct bench *bench, const char *folder)
{
	enum {
		LARGE,
		EMPTY,
		LARGE_TIDY,
		EMPTY_TIDY,
		SERIES
	};
	static const char *const names[SERIES] = { "record, this store", "record, an empty store",
		"idle work, this store", "idle work, an empty store" };
	static struct herd herd;
	struct store *stores[2];
	double *us[SERIES];
	char path[4096];
	struct err err = ERR_INIT;

	stores[EMPTY] = open_empty(folder, path, sizeof(path));
	stores[LARGE] = store_open(folder, STORE_WRITE, &err);
	if (!stores[LARGE])
		die("open", &err);
	(void)time_tidy(stores[LARGE]);
	for (int i = 0; i < SERIES; i++)
		us[i] = calloc(RECORD_ROUNDS, sizeof(**us));
	herd_init(&herd, (uint64_t)clock_us(), RECORD_ROUNDS, 0);
	for (int i = 0; i < RECORD_ROUNDS; i++) {
		struct store_run run;

		if (herd_next(&herd, &run, &err) < 0)
			die("herd", &err);
		for (int side = LARGE; side <= EMPTY; side++) {
			us[side][i] = time_record(stores[side], &run);
			us[LARGE_TIDY + side][i] = time_tidy(stores[side]);
		}
	}
	(void)printf("\n  %-34s %9s %9s %9s\n", "writing, ms", "p50", "p90", "p99");
	for (int i = 0; i < SERIES; i++)
		tell(bench, names[i], us[i], RECORD_ROUNDS, 0);
	(void)printf(
		"  a record costs %.2f times what it costs in an empty store; at most 1.20: %s\n",
		us[LARGE][RECORD_ROUNDS / 2] / us[EMPTY][RECORD_ROUNDS / 2],
		us[LARGE][RECORD_ROUNDS / 2] <= 1.2 * us[EMPTY][RECORD_ROUNDS / 2] ? "kept"
										   : "MISSED");
	bench->missed =
		bench->missed || us[LARGE][RECORD_ROUNDS / 2] > 1.2 * us[EMPTY][RECORD_ROUNDS / 2];
	for (int i = 0; i < SERIES; i++)
		free(us[i]);
	herd_done(&herd);
	store_close(stores[LARGE]);
	store_close(stores[EMPTY]);
	remove_empty(path);
}

int main(int argc, char **argv)
{
	struct bench bench = { .rounds = argc > 2 ? atoi(argv[2]) : ROUNDS };
	struct value *status = NULL;
	struct err err = ERR_INIT;

	if (argc < 2 || bench.rounds < 1) {
		(void)fprintf(stderr, "usage: bench_ask FOLDER [ROUNDS]\n");
		return 2;
	}
	arena_init(&bench.arena, ARENA_BYTES);
	bench.store = store_open(argv[1], STORE_READ, &err);
	if (!bench.store || store_status(bench.store, &bench.arena, &status, &err) < 0)
		die("open", &err);
	(void)printf("%lld runs, %lld MiB\n", (long long)value_as_int(value_get(status, "runs"), 0),
		(long long)value_as_int(value_get(status, "bytes"), 0) >> 20);
	find_marks(&bench);
	if (bench.mark_count == 0)
		return 1;
	time_filters(&bench);
	time_words(&bench);
	time_show(&bench);
	time_stats(&bench);
	store_close(bench.store);
	time_records(&bench, argv[1]);
	free(bench.marks);
	arena_done(&bench.arena);
	return bench.missed;
}
