/*
 * Damage in an unsettled run: the store reports it and verification names it, while all other runs
 * are settled, found and recorded as before.
 */
#include <limits.h>
#include <string.h>

#include "store/answers.h"
#include "store/base/db.h"
#include "store/write/writer.h"
#include "tests/check.h"
#include "tests/unit/store_sample.h"

#define PAGE      4096
#define CODE_LEN  900
#define FULL      4096U /* so many unsettled runs that each commit settles some */
#define OWN_PAGES 40U   /* runs enough for several pages of `records` */

/* A run with its own program blob, which contains `word`. */
static void put(struct shop *shop, const char *word)
{
	char code[CODE_LEN];

	memset(code, '#', sizeof(code));
	memcpy(code, word, strlen(word));
	code[strlen(word)] = ' ';
	sample_next(&shop->sample);
	shop->sample.spec.code = (struct bytes){ code, sizeof(code) };
	CHECK_EQ_INT(sample_write(shop->store, &shop->sample, &shop->err), 0);
}

static int64_t number(struct shop *shop, const char *sql)
{
	int64_t found = -1;

	(void)db_number(shop->store, sql, -1, &found, &shop->err);
	return found;
}

static int64_t pending(struct shop *shop)
{
	return number(shop, "SELECT count(*) FROM pending");
}

/* Does the work of idle moments.  Returns the last result. */
static int settle(struct shop *shop)
{
	int r;

	shop->store->writer->index.goes_on = true;
	while ((r = store_tidy(shop->store, &shop->err)) > 0)
		;
	return r;
}

/* Changes the bytes of the newest run's program. */
static void damage_code(struct shop *shop)
{
	CHECK_EQ_INT(
		db_exec(shop->store,
			"UPDATE blob_data SET codec = 1, data = x'00' WHERE blob = (SELECT code "
			"FROM records ORDER BY key DESC LIMIT 1)",
			&shop->err),
		0);
}

/* Returns how many runs a search finds; -1: the query fails. */
static int count(struct shop *shop, const char *words)
{
	const struct store_filter filter = { .all_callers = true, .text = words, .limit = 1000 };
	struct value *page = NULL;

	if (store_list(shop->store, &filter, &shop->arena, &page, &shop->err) < 0)
		return -1;
	return (int)value_get(page, "runs")->list.count;
}

/* Returns how often verification reports this about that table. */
static unsigned told(struct shop *shop, enum store_part part, const char *what, const char *table)
{
	const struct store_span span = { .part = part, .from = 1, .count = 100000 };
	struct value *answer = NULL;
	unsigned found = 0;

	if (store_verify(shop->store, &span, &shop->arena, &answer, &shop->err) < 0)
		return UINT_MAX;
	for (size_t i = 0; value_at(value_get(answer, "problems"), i); i++) {
		const struct value *problem = value_at(value_get(answer, "problems"), i);
		const char *of = value_as_text(value_get(problem, "table"));

		found += strcmp(value_as_text(value_get(problem, "what")), what) == 0 && of &&
			 strcmp(of, table) == 0;
	}
	return found;
}

TEST(a_damaged_text_stops_no_settling)
{
	auto_shop struct shop shop;
	struct store_damage damage = { .runs = 0 };

	shop_init(&shop);
	put(&shop, "before");
	put(&shop, "damaged");
	damage_code(&shop);
	put(&shop, "behind");
	CHECK_EQ_INT(count(&shop, "behind"), 1); /* nor does a search of unsettled runs */
	CHECK(!store_take_damage(shop.store, &damage));
	CHECK_EQ_INT(settle(&shop), 0);
	CHECK_EQ_INT(pending(&shop), 0);
	CHECK(store_take_damage(shop.store, &damage));
	CHECK_EQ_INT(damage.runs, 1);
	CHECK_EQ_INT(damage.row, number(&shop, "SELECT key FROM run_texts WHERE code = 0"));
	CHECK(strstr(damage.why.text, "is damaged"));
	CHECK(!store_take_damage(shop.store, &damage)); /* reported once */
	CHECK_EQ_INT(count(&shop, "before"), 1);
	CHECK_EQ_INT(count(&shop, "behind"), 1);
	CHECK_EQ_INT(count(&shop, "damaged"), 0);
	CHECK_EQ_INT(told(&shop, STORE_PART_BLOBS, "changed", "blobs"), 1);
	CHECK_EQ_INT(told(&shop, STORE_PART_TABLES, "unreadable", "run_texts"), 1);
	CHECK_EQ_INT(told(&shop, STORE_PART_TABLES, "changed", "run_texts"), 0);
	CHECK_EQ_INT(told(&shop, STORE_PART_TABLES, "missing", "mentions"), 0);
}

TEST(a_text_that_is_whole_again_is_told_to_be_missing_in_the_index)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	put(&shop, "damaged");
	CHECK_EQ_INT(db_exec(shop.store, "CREATE TEMP TABLE whole AS SELECT * FROM blob_data",
			     &shop.err),
		0);
	damage_code(&shop);
	CHECK_EQ_INT(settle(&shop), 0);
	CHECK_EQ_INT(db_exec(shop.store, "INSERT OR REPLACE INTO blob_data SELECT * FROM whole",
			     &shop.err),
		0);
	CHECK_EQ_INT(told(&shop, STORE_PART_BLOBS, "changed", "blobs"), 0);
	CHECK_EQ_INT(told(&shop, STORE_PART_TABLES, "missing", "run_texts"), 1);
	CHECK_EQ_INT(told(&shop, STORE_PART_TABLES, "unreadable", "run_texts"), 0);
}

TEST(commits_go_on_with_a_damaged_text_among_all_that_wait)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	put(&shop, "damaged");
	damage_code(&shop);
	shop.store->writer->index.waiting = FULL;
	for (unsigned i = 0; i < 10; i++)
		put(&shop, "behind");
	CHECK_EQ_INT(shop.err.code, ERR_NONE);
	CHECK_EQ_INT(number(&shop, "SELECT count(*) FROM runs"), 11);
	CHECK(pending(&shop) < 11); /* each commit settled some */
}

TEST(a_damaged_run_can_be_pruned)
{
	auto_shop struct shop shop;
	const struct store_act act = { .method = "audit.gc", .params = "{}", .result = "{}" };
	const char *run_id;
	uint64_t bytes = 0;

	shop_init(&shop);
	put(&shop, "settled");
	CHECK_EQ_INT(settle(&shop), 0);
	damage_code(&shop); /* after its words have entered the index */
	run_id = shop.sample.run_id;
	CHECK_EQ_INT(store_begin(shop.store, &shop.err), 0);
	CHECK_EQ_INT(store_prune(shop.store, &act, &run_id, 1, &bytes, &shop.err), 0);
	CHECK_EQ_INT(store_commit(shop.store, STORE_NOW, &shop.err), 0);
	CHECK_EQ_INT(number(&shop, "SELECT count(*) FROM pruned"), 1);
	CHECK_EQ_INT(count(&shop, "settled"), 0);
	CHECK_EQ_INT(
		told(&shop, STORE_PART_BLOBS, "changed", "blobs"), 0); /* the damage has gone */
}

/* Programs short enough to stand in the row. */
static void put_short(struct shop *shop, const char *code)
{
	sample_next(&shop->sample);
	shop->sample.spec.code = (struct bytes){ code, strlen(code) };
	CHECK_EQ_INT(sample_write(shop->store, &shop->sample, &shop->err), 0);
}

TEST(runs_whose_rows_cannot_be_read_are_given_up_and_the_others_settle)
{
	auto_shop struct shop shop;
	struct store_damage damage = { .runs = 0 };
	int64_t given_up;

	shop_init(&shop);
	for (unsigned i = 0; i < OWN_PAGES; i++)
		put_short(&shop, i == OWN_PAGES / 2 ? "# the spoilt one" : "# one of many");
	CHECK(shop_spoil(&shop, "# the spoilt one"));
	CHECK_EQ_INT(settle(&shop), 0);
	CHECK(store_take_damage(shop.store, &damage));
	given_up = pending(&shop);
	CHECK(given_up > 0 && given_up < OWN_PAGES);
	CHECK_EQ_INT(damage.runs, given_up);
	CHECK_EQ_INT(number(&shop, "SELECT count(*) FROM run_texts"), OWN_PAGES - given_up);
	/* While all of these wait, records are still written and new runs settle. */
	shop.store->writer->index.waiting = FULL;
	put_short(&shop, "# the last one");
	put_short(&shop, "# the last one");
	CHECK_EQ_INT(settle(&shop), 0);
	CHECK_EQ_INT(pending(&shop), given_up);
	CHECK(!store_take_damage(shop.store, &damage)); /* not tried again */
	CHECK_EQ_INT(count(&shop, "last"), 2);
}

/* A program on its own pages.  It has no spaces, so it adds no words. */
static void put_long(struct shop *shop, const char *mark)
{
	static char code[6 * PAGE];
	unsigned seed = 7;

	for (size_t i = 0; i < sizeof(code); i++) {
		seed = seed * 1103515245 + 12345;
		code[i] = (char)(1 + (seed >> 16) % 255);
	}
	memcpy(code + sizeof(code) / 2, mark, strlen(mark));
	sample_next(&shop->sample);
	shop->sample.spec.code = (struct bytes){ code, sizeof(code) };
	CHECK_EQ_INT(sample_write(shop->store, &shop->sample, &shop->err), 0);
}

TEST(a_text_on_a_damaged_page_is_left_out_and_its_run_settles)
{
	auto_shop struct shop shop;
	struct store_damage damage = { .runs = 0 };

	shop_init(&shop);
	put(&shop, "before");
	put_long(&shop, "a-mark-in-the-middle");
	put(&shop, "behind");
	CHECK(shop_spoil(&shop, "a-mark-in-the-middle"));
	CHECK_EQ_INT(settle(&shop), 0);
	CHECK(store_take_damage(shop.store, &damage));
	CHECK_EQ_INT(damage.runs, 1);
	CHECK_EQ_INT(pending(&shop), 0);
	CHECK_EQ_INT(number(&shop, "SELECT count(*) FROM run_texts WHERE code = 0"), 1);
	CHECK_EQ_INT(count(&shop, "before"), 1);
	CHECK_EQ_INT(count(&shop, "behind"), 1);
}

TEST(a_damaged_page_costs_a_batch_one_more_try_and_no_record)
{
	auto_shop struct shop shop;
	unsigned failed = 0;

	shop_init(&shop);
	for (unsigned i = 0; i < OWN_PAGES; i++)
		put_short(&shop, i == OWN_PAGES / 2 ? "# the spoilt one" : "# one of many");
	CHECK(shop_spoil(&shop, "# the spoilt one"));
	shop.store->writer->index.waiting = FULL;
	for (unsigned i = 0; i < 2 * OWN_PAGES; i++) {
		sample_next(&shop.sample);
		if (sample_write(shop.store, &shop.sample, &shop.err) == 0)
			continue;
		failed++;
		CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	}
	CHECK_EQ_INT(failed, 1); /* after that, idle moments settle the rest */
	CHECK_EQ_INT(number(&shop, "SELECT count(*) FROM runs"), 3 * OWN_PAGES);
	CHECK_EQ_INT(settle(&shop), 0);
	CHECK(pending(&shop) < OWN_PAGES);
}
