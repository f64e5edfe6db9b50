#include <string.h>

#include "store/base/db.h"
#include "store/maintenance.h"
#include "tests/check.h"
#include "tests/unit/store_sample.h"

#define RUNS 25

static char ids[RUNS][RUN_ID_LEN + 1];

static void fill(struct shop *shop)
{
	shop_init(shop);
	CHECK(shop->store);
	for (unsigned i = 0; i < RUNS; i++) {
		sample_next(&shop->sample);
		memcpy(ids[i], shop->sample.run_id, sizeof(ids[i]));
		CHECK_EQ_INT(sample_write(shop->store, &shop->sample, &shop->err), 0);
	}
}

static struct store_export everything(uint32_t limit)
{
	return (struct store_export){
		.limit = limit, .page_bytes = 1 << 20, .stream_bytes = 1 << 16
	};
}

static struct value *page_of(struct shop *shop, const struct store_export *what)
{
	struct value *page = NULL;

	(void)store_export(shop->store, what, &shop->arena, &page, &shop->err);
	return page;
}

static const char *id_at(const struct value *page, size_t index)
{
	return value_as_text(value_get(value_at(value_get(page, "records"), index), "run_id"));
}

TEST(pages_of_any_size_together_have_each_run_once_oldest_first)
{
	auto_shop struct shop shop;

	fill(&shop);
	CHECK(check_ok());
	for (uint32_t limit = 1; limit <= RUNS + 2; limit += 3) {
		struct store_export what = everything(limit);
		unsigned seen = 0;
		bool more = true;

		while (more) {
			struct value *page = page_of(&shop, &what);

			CHECK(page);
			for (size_t i = 0; id_at(page, i); i++)
				CHECK_STR(id_at(page, i), ids[seen++]);
			more = value_as_bool(value_get(page, "more"), false);
			what.after_run_id = value_as_text(value_get(page, "next"));
			more = more && what.after_run_id;
		}
		CHECK_EQ_INT(seen, RUNS);
	}
}

TEST(a_page_ends_when_it_has_bytes_enough_but_never_without_a_record)
{
	auto_shop struct shop shop;
	struct store_export what = everything(RUNS);
	struct value *page;

	fill(&shop);
	CHECK(check_ok());
	what.page_bytes = 1;
	arena_done(&shop.arena);
	page = page_of(&shop, &what);
	CHECK_EQ_INT(value_get(page, "records")->list.count, 1);
	CHECK(value_as_bool(value_get(page, "more"), false));
	CHECK_STR(value_as_text(value_get(page, "next")), ids[0]);
}

/* A forged copy: one id in two rows, and each page as long as one record. */
TEST(an_id_that_comes_twice_does_not_lead_back)
{
	auto_shop struct shop shop;
	struct store_export what = everything(1);
	unsigned pages = 0;
	bool more = true;

	fill(&shop);
	CHECK(check_ok());
	CHECK_EQ_INT(store_begin(shop.store, &shop.err), 0);
	CHECK_EQ_INT(
		db_exec(shop.store,
			"CREATE TEMP TABLE n AS SELECT max(key) + 1 AS key FROM runs; "
			"INSERT INTO runs (key, run_id, method, uid, gid, pid, received_us) "
			"SELECT n.key, run_id, method, uid, gid, pid, received_us FROM n JOIN runs "
			"ON runs.key = n.key - 1; INSERT INTO records (key) SELECT key FROM n",
			&shop.err),
		0);
	CHECK_EQ_INT(store_commit(shop.store, STORE_SOON, &shop.err), 0);
	while (more && pages < 3 * RUNS) {
		struct value *page = page_of(&shop, &what);

		CHECK(page);
		pages++;
		what.after_run_id = value_as_text(value_get(page, "next"));
		more = value_as_bool(value_get(page, "more"), false) && what.after_run_id;
	}
	CHECK(pages <= RUNS + 3);
}

TEST(how_many_are_left_is_counted_when_asked)
{
	auto_shop struct shop shop;
	struct store_export what = everything(5);

	fill(&shop);
	CHECK(check_ok());
	CHECK(value_get(page_of(&shop, &what), "left") == NULL);
	what.counts = true;
	CHECK_EQ_INT(value_as_int(value_get(page_of(&shop, &what), "left"), 0), RUNS);
	what.after_run_id = ids[9];
	CHECK_EQ_INT(value_as_int(value_get(page_of(&shop, &what), "left"), 0), RUNS - 10);
}

TEST(a_span_of_time_is_heeded)
{
	auto_shop struct shop shop;
	struct store_export what = everything(RUNS);
	int64_t middle_us;

	fill(&shop);
	CHECK(check_ok());
	middle_us = (int64_t)ulid_time_ms(ids[10]) * 1000;
	what.until_wall_us = middle_us;
	for (size_t i = 0; id_at(page_of(&shop, &what), i); i++)
		CHECK(ulid_time_ms(ids[i]) < ulid_time_ms(ids[10]));
	what.until_wall_us = 0;
	what.since_wall_us = middle_us;
	CHECK(ulid_time_ms(id_at(page_of(&shop, &what), 0)) >= ulid_time_ms(ids[10]));
}

TEST(contents_can_be_left_out_and_facts_stay)
{
	static const char *const gone[] = { "reason", "stdout", "stderr", "value", "trace" };
	auto_shop struct shop shop;
	struct store_export what = everything(1);
	const struct value *record, *request;

	fill(&shop);
	CHECK(check_ok());
	record = value_at(value_get(page_of(&shop, &what), "records"), 0);
	CHECK(value_get(record, "stdout") && value_get(value_get(record, "request"), "code"));
	what.without_contents = true;
	record = value_at(value_get(page_of(&shop, &what), "records"), 0);
	request = value_get(record, "request");
	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
		CHECK(value_get(record, gone[i]) == NULL);
	CHECK(value_get(request, "code") == NULL && value_get(request, "stdin") == NULL);
	CHECK(value_get(request, "language") && value_get(record, "code_hash"));
	CHECK(value_get(record, "metrics") && value_get(record, "stdout_bytes"));
}
