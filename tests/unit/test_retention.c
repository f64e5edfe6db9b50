#include <stdlib.h>
#include <string.h>

#include "proto/base/container.h"
#include "store/base/db.h"
#include "store/maintenance.h"
#include "store/write/writer.h"
#include "tests/check.h"
#include "tests/unit/store_sample.h"

#define RUNS 60
#define SIZE 20000

static atomic_bool stop;
static char ids[RUNS][RUN_ID_LEN + 1];

/* Runs that each have their own output, and share one program and one stderr. */
static void fill(struct shop *shop)
{
	static char output[SIZE], errout[SIZE];

	shop_init(shop);
	CHECK(shop->store);
	for (size_t i = 0; i < SIZE; i++)
		errout[i] = (char)(random() >> 8);
	for (unsigned i = 0; i < RUNS; i++) {
		sample_next(&shop->sample);
		memcpy(ids[i], shop->sample.run_id, sizeof(ids[i]));
		for (size_t k = 0; k < SIZE; k++)
			output[k] = (char)(random() >> 8);
		shop->sample.result.out.head = (struct bytes){ output, SIZE };
		shop->sample.result.errout.head = (struct bytes){ errout, SIZE };
		CHECK_EQ_INT(sample_write(shop->store, &shop->sample, &shop->err), 0);
	}
}

static int64_t number(struct shop *shop, const char *sql)
{
	int64_t found = -1;

	(void)db_number(shop->store, sql, -1, &found, &shop->err);
	return found;
}

static struct store_plan plan_for(struct shop *shop, struct store_keep keep)
{
	struct store_plan plan = { 0 };

	if (store_plan(shop->store, &keep, &stop, &plan, &shop->err) < 0)
		check_failed(__FILE__, __LINE__, shop->err.text);
	return plan;
}

static uint64_t freed; /* by the last take() */

/* Deletes everything that a plan names.  Returns how many runs that were. */
static unsigned take(struct shop *shop, struct store_plan plan)
{
	const struct store_act act = {
		.at_wall_us = 1, .method = "prune", .params = "{}", .result = "{}"
	};
	char names[STORE_PIECE_MAX][RUN_ID_LEN + 1];
	const char *pointers[STORE_PIECE_MAX];
	unsigned count = 1, taken = 0;
	uint64_t bytes = 0;

	freed = 0;
	while (count && store_plan_next(shop->store, &plan, names, 7, &count, &shop->err) == 0) {
		for (unsigned i = 0; i < count; i++)
			pointers[i] = names[i];
		if (!count)
			break;
		if (store_begin(shop->store, &shop->err) < 0 ||
			store_prune(shop->store, &act, pointers, count, &bytes, &shop->err) < 0 ||
			store_commit(shop->store, STORE_SOON, &shop->err) < 0)
			return 0;
		taken += count;
		freed += bytes;
	}
	return taken;
}

static bool has_contents(struct shop *shop, unsigned run)
{
	struct value *record = NULL;
	uint32_t uid = 0;

	if (store_get(shop->store, ids[run], 100, &shop->arena, &record, &uid, &shop->err) != 0)
		return false;
	return value_get(record, "pruned") == NULL;
}

TEST(all_but_the_newest_runs_are_named_and_counted)
{
	auto_shop struct shop shop;
	struct store_plan plan;

	fill(&shop);
	CHECK(check_ok());
	while (store_tidy(shop.store, &shop.err) > 0)
		;
	plan = plan_for(&shop, (struct store_keep){ .runs = 20 });
	CHECK_EQ_INT(plan.runs, RUNS - 20);
	CHECK_STR(plan.until, ids[RUNS - 21]);
	CHECK_EQ_INT(take(&shop, plan), RUNS - 20);
	for (unsigned i = 0; i < RUNS; i++)
		CHECK(has_contents(&shop, i) == (i >= RUNS - 20));
	CHECK_EQ_INT(plan_for(&shop, (struct store_keep){ .runs = 20 }).runs, 0);
	CHECK_EQ_INT(number(&shop, "SELECT count(*) FROM runs"), RUNS);
}

TEST(what_is_planned_to_be_free_is_about_what_is_free_then)
{
	auto_shop struct shop shop;
	struct store_size before, after;
	struct store_plan plan;

	fill(&shop);
	CHECK(check_ok());
	CHECK_EQ_INT(take(&shop, plan_for(&shop, (struct store_keep){ .runs = RUNS - 1 })), 1);
	/* Deleting settles every run, so the counts of blobs are exact now. */
	CHECK_EQ_INT(store_sizes(shop.store, &before, &shop.err), 0);
	plan = plan_for(&shop, (struct store_keep){ .runs = 10 });
	CHECK(plan.bytes > (uint64_t)40 * SIZE);
	CHECK_EQ_INT(take(&shop, plan), RUNS - 11);
	CHECK_EQ_INT(freed, plan.bytes);
	CHECK_EQ_INT(store_sizes(shop.store, &after, &shop.err), 0);
	CHECK(before.used_bytes - after.used_bytes > plan.bytes / 10 * 8);
	CHECK(before.used_bytes - after.used_bytes < plan.bytes / 10 * 13);
}

TEST(a_size_is_reached_by_taking_the_oldest)
{
	auto_shop struct shop shop;
	struct store_size size;
	uint64_t wanted;

	fill(&shop);
	CHECK(check_ok());
	CHECK_EQ_INT(store_sizes(shop.store, &size, &shop.err), 0);
	wanted = size.used_bytes / 2;
	for (unsigned round = 0; round < 4; round++)
		(void)take(&shop, plan_for(&shop, (struct store_keep){ .bytes = wanted }));
	CHECK_EQ_INT(store_sizes(shop.store, &size, &shop.err), 0);
	CHECK(size.used_bytes <= wanted);
	CHECK(!has_contents(&shop, 0));
	CHECK(has_contents(&shop, RUNS - 1));
}

TEST(nothing_is_named_when_everything_is_kept)
{
	auto_shop struct shop shop;

	fill(&shop);
	CHECK(check_ok());
	CHECK_EQ_INT(plan_for(&shop, (struct store_keep){ 0 }).runs, 0);
	CHECK_EQ_INT(plan_for(&shop, (struct store_keep){ .before_wall_us = 1000000 }).runs, 0);
	CHECK_EQ_INT(plan_for(&shop, (struct store_keep){ .runs = RUNS }).runs, 0);
	CHECK_EQ_INT(plan_for(&shop, (struct store_keep){ .bytes = UINT64_C(1) << 40 }).runs, 0);
}

/* Keeps a hundred years: no run is that old. */
TEST(an_age_from_before_the_calendar_begins_names_nothing)
{
	static const int64_t moments[] = { -1, -1000, -86400000000, -1400000000000000, INT64_MIN };
	auto_shop struct shop shop;

	fill(&shop);
	CHECK(check_ok());
	for (size_t i = 0; i < COUNT_OF(moments); i++)
		CHECK_EQ_INT(
			plan_for(&shop, (struct store_keep){ .before_wall_us = moments[i] }).runs,
			0);
}

TEST(a_run_that_goes_on_keeps_what_it_has)
{
	auto_shop struct shop shop;
	struct store_run begun;

	fill(&shop);
	CHECK(check_ok());
	sample_next(&shop.sample);
	begun = sample_begun(&shop.sample);
	CHECK_EQ_INT(store_begin(shop.store, &shop.err), 0);
	CHECK_EQ_INT(store_put_begun(shop.store, &begun, &shop.err), 0);
	CHECK_EQ_INT(store_commit(shop.store, STORE_SOON, &shop.err), 0);
	CHECK_EQ_INT(take(&shop, plan_for(&shop,
					 (struct store_keep){ .before_wall_us = INT64_MAX / 2 })),
		RUNS);
	CHECK_EQ_INT(number(&shop, "SELECT count(*) FROM pruned"), RUNS);
	CHECK_EQ_INT(number(&shop, "SELECT count(*) FROM records WHERE code IS NOT NULL"), 1);
}

TEST(room_is_given_back_to_the_disk_in_pieces)
{
	auto_shop struct shop shop;
	struct store_size before, after;
	bool more = true;
	unsigned pieces = 0;

	fill(&shop);
	CHECK(check_ok());
	CHECK_EQ_INT(number(&shop, "PRAGMA auto_vacuum"), 2);
	CHECK_EQ_INT(store_sizes(shop.store, &before, &shop.err), 0);
	CHECK_EQ_INT(take(&shop, plan_for(&shop, (struct store_keep){ .runs = 5 })), RUNS - 5);
	for (; more && pieces < 1000; pieces++) {
		CHECK_EQ_INT(store_begin(shop.store, &shop.err), 0);
		CHECK_EQ_INT(store_shrink(shop.store, 16, &more, &shop.err), 0);
		CHECK_EQ_INT(store_commit(shop.store, STORE_SOON, &shop.err), 0);
	}
	CHECK(pieces > 5);
	CHECK_EQ_INT(store_sizes(shop.store, &after, &shop.err), 0);
	CHECK_EQ_INT(after.file_bytes, after.used_bytes);
	CHECK(after.file_bytes < before.file_bytes / 2);
	CHECK(has_contents(&shop, RUNS - 1));
	CHECK_EQ_INT(number(&shop, "SELECT count(*) = 1 FROM pragma_integrity_check "
				   "WHERE integrity_check = 'ok'"),
		1);
}

TEST(the_same_bytes_may_come_again_after_they_have_left)
{
	auto_shop struct shop shop;

	fill(&shop);
	CHECK(check_ok());
	CHECK_EQ_INT(take(&shop, plan_for(&shop,
					 (struct store_keep){ .before_wall_us = INT64_MAX / 2 })),
		RUNS);
	sample_next(&shop.sample);
	memcpy(ids[0], shop.sample.run_id, sizeof(ids[0]));
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	CHECK(has_contents(&shop, 0));
	CHECK_EQ_INT(number(&shop, "SELECT count(*) FROM records WHERE stdout IS NOT NULL"), 1);
}

/* Settled runs whose programs are short enough to stand in their rows. */
static void fill_rows(struct shop *shop)
{
	shop_init(shop);
	for (unsigned i = 0; i < RUNS; i++) {
		const char *code = i == RUNS / 2 ? "# the spoilt one" : "# one of many";

		sample_next(&shop->sample);
		memcpy(ids[i], shop->sample.run_id, sizeof(ids[i]));
		shop->sample.spec.code = (struct bytes){ code, strlen(code) };
		CHECK_EQ_INT(sample_write(shop->store, &shop->sample, &shop->err), 0);
	}
	shop->store->writer->index.goes_on = true;
	while (store_tidy(shop->store, &shop->err) > 0)
		;
}

/* Deletes the runs that a plan names one by one.  Returns how many were deleted. */
static unsigned take_singly(struct shop *shop, struct store_plan *plan, unsigned *ret_stayed)
{
	const struct store_act act = {
		.at_wall_us = 1, .method = "prune", .params = "{}", .result = "{}"
	};
	char names[1][RUN_ID_LEN + 1];
	const char *name = names[0];
	unsigned count = 1, taken = 0;
	uint64_t bytes = 0;

	*ret_stayed = 0;
	while (store_plan_next(shop->store, plan, names, 1, &count, &shop->err) == 0 && count) {
		struct err why = ERR_INIT;

		if (store_begin(shop->store, &why) == 0 &&
			store_prune(shop->store, &act, &name, 1, &bytes, &why) == 0 &&
			store_commit(shop->store, STORE_SOON, &why) == 0) {
			taken++;
			continue;
		}
		store_rollback(shop->store);
		if (store_is_shut(&why))
			return 0;
		++*ret_stayed;
	}
	return taken;
}

TEST(records_on_a_damaged_page_stay_and_all_others_leave)
{
	auto_shop struct shop shop;
	struct store_plan plan;
	unsigned stayed = 0, taken;

	fill_rows(&shop);
	CHECK(shop_spoil(&shop, "# the spoilt one"));
	plan = plan_for(&shop, (struct store_keep){ .runs = 1 });
	CHECK(plan.unreadable.runs > 0 && plan.unreadable.runs < RUNS / 2);
	CHECK_EQ_INT(plan.runs + plan.unreadable.runs, RUNS - 1);
	taken = take_singly(&shop, &plan, &stayed);
	CHECK_EQ_INT(taken, plan.runs);
	CHECK_EQ_INT(stayed + taken, RUNS - 1);
	CHECK_EQ_INT(shop.err.code, ERR_NONE);
	CHECK(has_contents(&shop, RUNS - 1));
}

TEST(runs_that_cannot_be_named_are_stepped_over)
{
	auto_shop struct shop shop;
	struct store_plan plan, left;
	unsigned stayed = 0, taken;

	fill_rows(&shop);
	CHECK(shop_spoil(&shop, ids[RUNS / 2]));
	plan = plan_for(&shop, (struct store_keep){ .runs = 1 });
	CHECK(plan.unreadable.runs > 0 && plan.unreadable.runs < RUNS / 2);
	CHECK_EQ_INT(plan.runs + plan.unreadable.runs, RUNS - 1);
	CHECK(strstr(plan.unreadable.why.text, "damaged"));
	left = plan;
	taken = take_singly(&shop, &left, &stayed);
	CHECK_EQ_INT(taken, plan.runs);
	CHECK_EQ_INT(stayed, 0);
	CHECK_EQ_INT(shop.err.code, ERR_NONE);
	CHECK_EQ_INT(left.unreadable.runs, 2 * plan.unreadable.runs); /* used once more */
	CHECK(has_contents(&shop, RUNS - 1));
}
