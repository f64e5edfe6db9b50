#include <stdio.h>
#include <string.h>

#include "proto/base/container.h"
#include "tests/check.h"
#include "tests/unit/store_sample.h"

#define RUNS 600

/*
 * Run number n has an id made of n, and the runs are one second apart, so times and order are
 * known.
 */
static void id_of(unsigned n, char ret_id[RUN_ID_LEN + 1])
{
	static const char alphabet[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
	uint64_t ms = 1700000000000ULL + (uint64_t)n * 1000;

	memset(ret_id, '0', RUN_ID_LEN);
	ret_id[RUN_ID_LEN] = '\0';
	for (int i = 9; i >= 0; i--, ms >>= 5)
		ret_id[i] = alphabet[ms & 31];
	(void)snprintf(ret_id + 20, 7, "%06u", n % 1000000);
}

static int64_t time_of(unsigned n)
{
	return (1700000000000LL + (int64_t)n * 1000) * 1000;
}

static const char *const agents[] = { "ada", "bob", "cyd" };
static const char *const languages[] = { "python", "bash" };
static const char *const policies[] = { "standard", "strict" };

/* Every ninth run has a finding, every eighteenth two. */
static struct policy_finding findings[2] = {
	{ "python.import.denied", "observe", 1, 1, "import x", "no", NULL },
	{ "python.open.write", "observe", 2, 1, "open(y)", "no", NULL },
};

/*
 * Six hundred runs that differ in everything that a filter can select.  The last three are in
 * progress.
 */
static void write_runs(struct shop *shop)
{
	static char codes[4][32];
	static char tasks[10][16];
	static struct job_pair labels[2];

	CHECK_EQ_INT(store_begin(shop->store, &shop->err), 0);
	for (unsigned n = 0; n < RUNS; n++) {
		struct sample *sample = &shop->sample;
		struct store_run run;
		char *code = codes[n % 4];

		(void)snprintf(code, sizeof(codes[0]), "print(%u)", n % 4);
		(void)snprintf(tasks[n % 10], sizeof(tasks[0]), "task-%u", n % 10);
		labels[0] =
			(struct job_pair){ "colour", { n % 6 ? "red" : "blue", n % 6 ? 3 : 4 } };
		labels[1] = (struct job_pair){ "odd", { "yes", 3 } };
		id_of(n, sample->run_id);
		sample->spec.code = (struct bytes){ code, strlen(code) };
		sample->spec.labels = labels;
		sample->spec.label_count = n % 2 ? 2 : 1;
		job_code_hash(&sample->spec, sample->result.code_hash);
		sample->run.uid = 1000 + n % 5;
		sample->run.agent = n % 4 ? agents[n % 3] : NULL;
		sample->run.task = tasks[n % 10];
		sample->run.language = languages[n % 7 == 0];
		sample->run.policy = policies[n % 8 == 0];
		sample->result.verdict.findings = findings;
		sample->result.verdict.finding_count = n % 9 ? 0 : 1 + (n % 18 == 0);
		sample->run.received_wall_us = time_of(n);
		sample->result.outcome = n % 11 ? OUTCOME_OK : OUTCOME_WALL_LIMIT;
		sample->result.metrics.exec_us = n;
		sample->result.metrics.total_us = 1000 + n;
		run = sample_begun(sample);
		CHECK_EQ_INT(store_put_begun(shop->store, &run, &shop->err), 0);
		if (n >= RUNS - 3)
			continue;
		run = sample_ended(sample);
		CHECK_EQ_INT(store_put_ended(shop->store, &run, &shop->err), 0);
	}
	CHECK_EQ_INT(store_commit(shop->store, STORE_SOON, &shop->err), 0);
}

/* A store in which the older half of the runs is settled. */
static void stock(struct shop *shop)
{
	shop_init(shop);
	CHECK(shop->store);
	write_runs(shop);
	for (int i = 0; i < 5; i++)
		CHECK(store_tidy(shop->store, &shop->err) >= 0);
}

static const struct store_filter everyone = { .all_callers = true, .limit = 1000 };

static unsigned number_of(const struct value *row)
{
	const char *run_id = value_as_text(value_get(row, "run_id"));
	unsigned n = RUNS;

	if (run_id)
		(void)sscanf(run_id + 20, "%u", &n);
	return n;
}

/* The list must contain exactly the runs that `belongs` accepts, newest first. */
static void check_list(
	struct shop *shop, const struct store_filter *filter, bool (*belongs)(unsigned n))
{
	struct value *page = NULL;
	struct value *runs;
	size_t at = 0;

	CHECK_EQ_INT(store_list(shop->store, filter, &shop->arena, &page, &shop->err), 0);
	runs = value_get(page, "runs");
	CHECK(runs);
	for (unsigned n = RUNS; n-- > 0;) {
		if (!belongs(n))
			continue;
		CHECK(at < runs->list.count);
		CHECK_EQ_INT(number_of(value_at(runs, at)), n);
		at++;
	}
	CHECK_EQ_INT(runs->list.count, at);
	CHECK(!value_as_bool(value_get(page, "more"), true));
}

static bool is_any(unsigned n)
{
	return n < RUNS;
}

static bool is_uid_1002(unsigned n)
{
	return n % 5 == 2;
}

static bool is_limited(unsigned n)
{
	return n % 11 == 0 && n < RUNS - 3;
}

static bool is_bash(unsigned n)
{
	return n % 7 == 0;
}

static bool is_bob(unsigned n)
{
	return n % 4 && n % 3 == 1;
}

static bool is_task_7(unsigned n)
{
	return n % 10 == 7;
}

static bool is_strict(unsigned n)
{
	return n % 8 == 0;
}

static bool has_written(unsigned n)
{
	return n % 18 == 0 && n < RUNS - 3;
}

static bool has_imported_strictly(unsigned n)
{
	return n % 9 == 0 && n % 8 == 0 && n < RUNS - 3;
}

static bool is_blue_bash(unsigned n)
{
	return n % 6 == 0 && n % 7 == 0;
}

static bool is_code_3(unsigned n)
{
	return n % 4 == 3;
}

static bool is_blue(unsigned n)
{
	return n % 6 == 0;
}

static bool is_odd(unsigned n)
{
	return n % 2;
}

static bool is_running(unsigned n)
{
	return n >= RUNS - 3;
}

static bool is_between(unsigned n)
{
	return n >= 100 && n < 200;
}

static bool is_mixed(unsigned n)
{
	return n % 5 == 2 && n % 7 == 0 && n >= 100 && n < 500;
}

static bool is_none(unsigned n)
{
	return n > RUNS;
}

TEST(a_list_without_filters_has_all_runs_newest_first)
{
	auto_shop struct shop shop;

	stock(&shop);
	check_list(&shop, &everyone, is_any);
}

TEST(each_filter_lets_through_what_it_says)
{
	auto_shop struct shop shop;
	struct job_spec code = { .code = { "print(3)", 8 } };
	char hash[HASH_TEXT_LEN + 1];
	const struct {
		struct store_filter filter;
		bool (*belongs)(unsigned n);
	} tries[] = {
		{ { .uid = 1002, .limit = 1000 }, is_uid_1002 },
		{ { .all_callers = true,
			  .has_uid_filter = true,
			  .uid_filter = 1002,
			  .limit = 1000 },
			is_uid_1002 },
		{ { .all_callers = true, .outcome = "wall_limit", .limit = 1000 }, is_limited },
		{ { .all_callers = true, .language = "bash", .limit = 1000 }, is_bash },
		{ { .all_callers = true, .agent = "bob", .limit = 1000 }, is_bob },
		{ { .all_callers = true, .task = "task-7", .limit = 1000 }, is_task_7 },
		{ { .all_callers = true, .code_hash = hash, .limit = 1000 }, is_code_3 },
		{ { .all_callers = true, .policy = "strict", .limit = 1000 }, is_strict },
		{ { .all_callers = true, .rule = "python.open.write", .limit = 1000 },
			has_written },
		{ { .all_callers = true,
			  .rule = "python.import.denied",
			  .policy = "strict",
			  .limit = 1000 },
			has_imported_strictly },
		{ { .all_callers = true,
			  .language = "bash",
			  .label_key = "colour",
			  .label_value = "blue",
			  .limit = 1000 },
			is_blue_bash },
		{ { .all_callers = true,
			  .label_key = "colour",
			  .label_value = "blue",
			  .limit = 1000 },
			is_blue },
		{ { .all_callers = true, .label_key = "odd", .limit = 1000 }, is_odd },
		{ { .all_callers = true, .outcome = "running", .limit = 1000 }, is_running },
		{ { .all_callers = true,
			  .since_wall_us = time_of(100),
			  .until_wall_us = time_of(200),
			  .limit = 1000 },
			is_between },
		{ { .uid = 1002,
			  .language = "bash",
			  .since_wall_us = time_of(100),
			  .until_wall_us = time_of(500),
			  .limit = 1000 },
			is_mixed },
		{ { .all_callers = true, .agent = "nobody", .limit = 1000 }, is_none },
		{ { .all_callers = true, .code_hash = "sha256:zz", .limit = 1000 }, is_none },
		{ { .uid = 1002, .has_uid_filter = true, .uid_filter = 1003, .limit = 1000 },
			is_none },
	};

	stock(&shop);
	job_code_hash(&code, hash);
	for (size_t i = 0; i < COUNT_OF(tries); i++) {
		check_list(&shop, &tries[i].filter, tries[i].belongs);
		if (!check_ok()) {
			(void)printf("# filter %zu\n", i);
			return;
		}
	}
}

/* All runs that match a filter, page by page. */
static unsigned count_pages(struct shop *shop, struct store_filter filter, uint32_t limit)
{
	char before[RUN_ID_LEN + 1];
	struct value *page = NULL;
	struct value *runs;
	unsigned count = 0;
	bool more = true;

	filter.limit = limit;
	while (more) {
		if (store_list(shop->store, &filter, &shop->arena, &page, &shop->err) < 0)
			return 0;
		runs = value_get(page, "runs");
		more = value_as_bool(value_get(page, "more"), false);
		if (more && runs->list.count != limit)
			return 0;
		if (!runs->list.count)
			break;
		for (size_t i = 0; i < runs->list.count; i++)
			count++;
		(void)snprintf(before, sizeof(before), "%s",
			value_as_text(value_get(value_at(runs, runs->list.count - 1), "run_id")));
		filter.before_run_id = before;
	}
	return count;
}

TEST(pages_of_any_size_together_have_each_run_once)
{
	auto_shop struct shop shop;
	struct store_filter ada = everyone;

	stock(&shop);
	ada.agent = "bob";
	for (uint32_t limit = 1; limit < 700; limit = limit * 3 + 1) {
		CHECK_EQ_INT(count_pages(&shop, everyone, limit), RUNS);
		CHECK_EQ_INT(count_pages(&shop, ada, limit), 150);
	}
}

TEST(a_page_may_start_before_a_run_that_is_not_there)
{
	auto_shop struct shop shop;
	struct store_filter filter = everyone;
	char before[RUN_ID_LEN + 1];
	struct value *page = NULL;

	stock(&shop);
	id_of(50, before);
	before[15] = 'Z';
	filter.before_run_id = before;
	CHECK_EQ_INT(store_list(shop.store, &filter, &shop.arena, &page, &shop.err), 0);
	CHECK_EQ_INT(number_of(value_at(value_get(page, "runs"), 0)), 49);
	filter.before_run_id = "last";
	CHECK_EQ_INT(store_list(shop.store, &filter, &shop.arena, &page, &shop.err), -1);
	CHECK_EQ_INT(shop.err.code, ERR_INVALID);
}

TEST(a_row_of_a_list_has_its_keys)
{
	auto_shop struct shop shop;
	static const char *const keys[] = { "run_id", "received_us", "uid", "agent", "task",
		"language", "policy", "outcome", "ok", "reason", "code_hash", "exec_us", "total_us",
		"stdout_bytes", "id", "state", "method", "ended_us" };
	struct value *page = NULL;
	struct value *row;

	stock(&shop);
	CHECK_EQ_INT(store_list(shop.store, &everyone, &shop.arena, &page, &shop.err), 0);
	row = value_at(value_get(page, "runs"), 0);
	for (size_t i = 0; i < COUNT_OF(keys); i++)
		CHECK(value_get(row, keys[i]));
	CHECK_STR(value_as_text(value_get(row, "state")), "running");
	CHECK(value_is(value_get(row, "outcome"), VALUE_NIL));
	CHECK(value_is(value_get(row, "ok"), VALUE_NIL));
	row = value_at(value_get(page, "runs"), 4);
	CHECK_STR(value_as_text(value_get(row, "state")), "ended");
	CHECK(value_as_bool(value_get(row, "ok"), false));
	CHECK_EQ_INT(value_as_int(value_get(row, "exec_us"), -1), RUNS - 5);
	CHECK_EQ_INT(value_as_int(value_get(row, "received_us"), -1), time_of(RUNS - 5));
}

/* ---- names -------------------------------------------------------------------------------- */

static int resolve(
	struct shop *shop, const struct store_filter *filter, const char *name, unsigned *ret_n)
{
	char run_id[RUN_ID_LEN + 1] = "";
	int r = store_resolve(shop->store, filter, name, run_id, &shop->err);

	*ret_n = RUNS;
	if (r == 0)
		(void)sscanf(run_id + 20, "%u", ret_n);
	return r;
}

TEST(last_and_those_before_it_are_found)
{
	auto_shop struct shop shop;
	struct store_filter mine = { .uid = 1002 };
	unsigned n = 0;

	stock(&shop);
	CHECK_EQ_INT(resolve(&shop, &everyone, "last", &n), 0);
	CHECK_EQ_INT(n, RUNS - 1);
	CHECK_EQ_INT(resolve(&shop, &everyone, "last~0", &n), 0);
	CHECK_EQ_INT(n, RUNS - 1);
	CHECK_EQ_INT(resolve(&shop, &everyone, "last~599", &n), 0);
	CHECK_EQ_INT(n, 0);
	CHECK_EQ_INT(resolve(&shop, &everyone, "last~600", &n), 1);
	CHECK_EQ_INT(resolve(&shop, &mine, "last", &n), 0);
	CHECK_EQ_INT(n, 597);
	CHECK_EQ_INT(resolve(&shop, &mine, "last~1", &n), 0);
	CHECK_EQ_INT(n, 592);
}

TEST(odd_words_for_runs_find_nothing)
{
	auto_shop struct shop shop;
	static const char *const names[] = { "", "last~", "last~x", "last~-1", "last~99999999999",
		"lastly", "~1", "*", "%", "01HF7YAT0\xff", "U", "8",
		"01HF7YAT0000000000000000000000" };
	unsigned n = 0;

	stock(&shop);
	for (size_t i = 0; i < COUNT_OF(names); i++)
		CHECK_EQ_INT(resolve(&shop, &everyone, names[i], &n), 1);
}

TEST(a_prefix_finds_one_run_or_says_there_are_several)
{
	auto_shop struct shop shop;
	struct store_filter mine = { .uid = 1002 };
	char run_id[RUN_ID_LEN + 1];
	unsigned n = 0;

	stock(&shop);
	id_of(77, run_id);
	CHECK_EQ_INT(resolve(&shop, &everyone, run_id, &n), 0);
	CHECK_EQ_INT(n, 77);
	CHECK_EQ_INT(resolve(&shop, &mine, run_id, &n), 0);
	run_id[20] = '\0';
	CHECK_EQ_INT(resolve(&shop, &everyone, run_id, &n), 0);
	CHECK_EQ_INT(n, 77);
	run_id[10] = '\0';
	CHECK_EQ_INT(resolve(&shop, &everyone, run_id, &n), 0);
	CHECK_EQ_INT(n, 77);
	for (size_t i = 0; run_id[i]; i++)
		run_id[i] = (char)(run_id[i] >= 'A' ? run_id[i] + 32 : run_id[i]);
	CHECK_EQ_INT(resolve(&shop, &everyone, run_id, &n), 0);
	CHECK_EQ_INT(n, 77);
	run_id[7] = '\0';
	CHECK_EQ_INT(resolve(&shop, &everyone, run_id, &n), 2);
	CHECK_EQ_INT(resolve(&shop, &everyone, "0", &n), 2);
	id_of(78, run_id);
	CHECK_EQ_INT(resolve(&shop, &mine, run_id, &n), 1);
}

/* ---- statistics --------------------------------------------------------------------------- */

static int64_t percentile(const struct value *holder, const char *what, const char *which)
{
	return value_as_int(value_get(value_get(holder, what), which), -1);
}

static bool is_near(int64_t found, int64_t hoped)
{
	return found >= hoped && found <= hoped + hoped / 100 + 1;
}

TEST(statistics_have_exact_counts_and_near_percentiles)
{
	auto_shop struct shop shop;
	struct value *stats = NULL;
	struct value *group;

	stock(&shop);
	CHECK_EQ_INT(
		store_stats(shop.store, &everyone, "outcome", &shop.arena, &stats, &shop.err), 0);
	CHECK_EQ_INT(value_as_int(value_get(stats, "runs"), -1), RUNS - 3);
	CHECK_EQ_INT(value_as_int(value_get(stats, "running"), -1), 3);
	CHECK_EQ_INT(value_as_int(value_get(stats, "ok"), -1), 542);
	CHECK(is_near(percentile(stats, "exec_us", "p50"), 298));
	CHECK(is_near(percentile(stats, "exec_us", "p90"), 537));
	CHECK(is_near(percentile(stats, "exec_us", "p99"), 591));
	CHECK(is_near(percentile(stats, "total_us", "p50"), 1298));
	CHECK_EQ_INT(value_get(stats, "by")->list.count, 2);
	group = value_at(value_get(stats, "by"), 0);
	CHECK_STR(value_as_text(value_get(group, "key")), "ok");
	CHECK_EQ_INT(value_as_int(value_get(group, "runs"), -1), 542);
	group = value_at(value_get(stats, "by"), 1);
	CHECK_STR(value_as_text(value_get(group, "key")), "wall_limit");
	CHECK_EQ_INT(value_as_int(value_get(group, "ok"), -1), 0);
}

TEST(statistics_are_grouped_as_asked)
{
	auto_shop struct shop shop;
	struct value *stats = NULL;

	stock(&shop);
	CHECK_EQ_INT(
		store_stats(shop.store, &everyone, "agent", &shop.arena, &stats, &shop.err), 0);
	CHECK_EQ_INT(value_get(stats, "by")->list.count, 4);
	CHECK_EQ_INT(
		store_stats(shop.store, &everyone, "language", &shop.arena, &stats, &shop.err), 0);
	CHECK_EQ_INT(value_get(stats, "by")->list.count, 2);
	CHECK_EQ_INT(
		store_stats(shop.store, &everyone, "phase", &shop.arena, &stats, &shop.err), 0);
	CHECK_EQ_INT(value_get(stats, "by")->list.count, 6);
	CHECK_EQ_INT(percentile(value_at(value_get(stats, "by"), 0), "us", "p50"), 7);
	CHECK_EQ_INT(
		store_stats(shop.store, &everyone, "colour", &shop.arena, &stats, &shop.err), -1);
	CHECK_EQ_INT(shop.err.code, ERR_INVALID);
}

TEST(runs_that_reached_no_worker_do_not_make_the_others_look_fast)
{
	auto_shop struct shop shop;
	struct value *stats = NULL;
	struct store_run run;

	shop_init(&shop);
	CHECK_EQ_INT(store_begin(shop.store, &shop.err), 0);
	for (unsigned n = 0; n < 3; n++) {
		struct sample *sample = &shop.sample;

		id_of(n, sample->run_id);
		sample->result.outcome = n ? OUTCOME_POLICY_DENIED : OUTCOME_OK;
		sample->result.metrics.start_us = n ? 0 : 100;
		sample->result.metrics.exec_us = n ? 0 : 200;
		run = sample_ended(sample);
		CHECK_EQ_INT(store_put_ended(shop.store, &run, &shop.err), 0);
	}
	CHECK_EQ_INT(store_commit(shop.store, STORE_SOON, &shop.err), 0);

	CHECK_EQ_INT(
		store_stats(shop.store, &everyone, "outcome", &shop.arena, &stats, &shop.err), 0);
	CHECK_EQ_INT(value_as_int(value_get(stats, "runs"), -1), 3);
	CHECK_EQ_INT(percentile(stats, "exec_us", "p50"), 200);
	CHECK_EQ_INT(
		store_stats(shop.store, &everyone, "phase", &shop.arena, &stats, &shop.err), 0);
	CHECK_EQ_INT(value_as_int(value_get(value_at(value_get(stats, "by"), 3), "runs"), -1), 1);
	CHECK_EQ_INT(value_as_int(value_get(value_at(value_get(stats, "by"), 5), "runs"), -1), 3);
}

TEST(statistics_heed_the_filter)
{
	auto_shop struct shop shop;
	struct store_filter filter = {
		.uid = 1002, .since_wall_us = time_of(100), .until_wall_us = time_of(200)
	};
	struct value *stats = NULL;

	stock(&shop);
	CHECK_EQ_INT(
		store_stats(shop.store, &filter, "outcome", &shop.arena, &stats, &shop.err), 0);
	CHECK_EQ_INT(value_as_int(value_get(stats, "runs"), -1), 20);
}

TEST(more_agents_than_there_are_groups_share_one)
{
	auto_shop struct shop shop;
	static char agent[16];
	struct value *stats = NULL;
	struct value *by;
	int64_t runs = 0;

	shop_init(&shop);
	CHECK(shop.store);
	for (unsigned i = 0; i < 150; i++) {
		(void)snprintf(agent, sizeof(agent), "agent-%u", i);
		sample_next(&shop.sample);
		shop.sample.run.agent = agent;
		CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	}
	CHECK_EQ_INT(
		store_stats(shop.store, &everyone, "agent", &shop.arena, &stats, &shop.err), 0);
	by = value_get(stats, "by");
	CHECK_EQ_INT(by->list.count, 101);
	CHECK_STR(value_as_text(value_get(value_at(by, 0), "key")), "(other)");
	for (size_t i = 0; i < by->list.count; i++)
		runs += value_as_int(value_get(value_at(by, i), "runs"), 0);
	CHECK_EQ_INT(runs, 150);
}

TEST(a_store_without_runs_has_statistics_of_zeroes)
{
	auto_shop struct shop shop;
	struct value *stats = NULL;

	shop_init(&shop);
	CHECK(shop.store);
	CHECK_EQ_INT(
		store_stats(shop.store, &everyone, "outcome", &shop.arena, &stats, &shop.err), 0);
	CHECK_EQ_INT(value_as_int(value_get(stats, "runs"), -1), 0);
	CHECK_EQ_INT(percentile(stats, "exec_us", "p99"), 0);
}
