#include <string.h>

#include "store/store.h"
#include "tests/check.h"
#include "tests/unit/store_sample.h"

static const uint8_t THIS[32] = { 1 }, THAT[32] = { 2 };

/* Writes the beginning of the sample and, if there is an outcome, its end. */
static void write_action(
	struct shop *shop, const uint8_t *action, enum outcome outcome, enum ran ran)
{
	struct sample *sample = &shop->sample;
	struct store_run run = sample_begun(sample);

	run.caller_id = "an action";
	run.action = action;
	CHECK_EQ_INT(store_begin(shop->store, &shop->err), 0);
	CHECK_EQ_INT(store_put_begun(shop->store, &run, &shop->err), 0);
	if (outcome != OUTCOME_NONE) {
		sample->result.outcome = outcome;
		sample->result.ran = ran;
		run = sample_ended(sample);
		run.caller_id = "an action";
		run.action = action;
		CHECK_EQ_INT(store_put_ended(shop->store, &run, &shop->err), 0);
	}
	CHECK_EQ_INT(store_commit(shop->store, STORE_NOW, &shop->err), 0);
}

static int find(struct shop *shop, struct store_action *ret_action)
{
	return store_find_action(
		shop->store, shop->sample.run.uid, "an action", ret_action, &shop->err);
}

TEST(an_action_is_found_by_its_name_from_its_beginning_on)
{
	auto_shop struct shop shop;
	struct store_action action;

	shop_init(&shop);
	CHECK_EQ_INT(find(&shop, &action), 1);
	write_action(&shop, THIS, OUTCOME_NONE, RAN_NO);
	CHECK_EQ_INT(find(&shop, &action), 0);
	CHECK(!action.ended);
	CHECK_STR(action.run_id, shop.sample.run_id);
	CHECK(memcmp(action.content, THIS, sizeof(THIS)) == 0);
	CHECK_EQ_INT(store_find_action(
			     shop.store, shop.sample.run.uid + 1, "an action", &action, &shop.err),
		1);
}

TEST(one_that_was_lost_is_still_found)
{
	auto_shop struct shop shop;
	struct store_action action;

	shop_init(&shop);
	write_action(&shop, THIS, OUTCOME_NONE, RAN_NO);
	shop_reopen(&shop);
	CHECK_EQ_INT(find(&shop, &action), 0);
	CHECK(action.ended);
}

TEST(what_has_not_run_gives_its_name_back)
{
	auto_shop struct shop shop;
	struct store_action action;

	shop_init(&shop);
	write_action(&shop, THIS, OUTCOME_CANCELED, RAN_NO);
	CHECK_EQ_INT(find(&shop, &action), 1);
	sample_next(&shop.sample);
	write_action(&shop, THAT, OUTCOME_EXIT, RAN_YES);
	CHECK_EQ_INT(find(&shop, &action), 0);
	CHECK(action.ended);
	CHECK(memcmp(action.content, THAT, sizeof(THAT)) == 0);
}

TEST(one_that_ended_without_its_name_takes_nobody_s_away)
{
	auto_shop struct shop shop;
	struct store_action action;
	char first[RUN_ID_LEN + 1];

	shop_init(&shop);
	write_action(&shop, THIS, OUTCOME_OK, RAN_YES);
	memcpy(first, shop.sample.run_id, sizeof(first));
	sample_next(&shop.sample);
	write_action(&shop, NULL, OUTCOME_REFUSED, RAN_NO);
	CHECK_EQ_INT(find(&shop, &action), 0);
	CHECK_STR(action.run_id, first);
}

TEST(an_action_can_be_added_to_a_run_that_has_begun)
{
	auto_shop struct shop shop;
	struct store_action action;
	struct store_run run;

	shop_init(&shop);
	write_action(&shop, NULL, OUTCOME_NONE, RAN_NO);
	CHECK_EQ_INT(find(&shop, &action), 1);
	run = sample_begun(&shop.sample);
	run.caller_id = "an action";
	run.action = THIS;
	run.is_begun = true;
	CHECK_EQ_INT(store_begin(shop.store, &shop.err), 0);
	CHECK_EQ_INT(store_put_begun(shop.store, &run, &shop.err), 0);
	CHECK_EQ_INT(store_commit(shop.store, STORE_NOW, &shop.err), 0);
	CHECK_EQ_INT(find(&shop, &action), 0);
	CHECK_STR(action.run_id, shop.sample.run_id);
}

/* ---- cached results ----------------------------------------------------------------------- */

static void write_cached(struct shop *shop, const uint8_t *key, enum outcome outcome, uint64_t most)
{
	struct store_run run;

	sample_next(&shop->sample);
	shop->sample.result.outcome = outcome;
	run = sample_ended(&shop->sample);
	run.cache_key = key;
	run.cache_entries = most;
	CHECK_EQ_INT(store_begin(shop->store, &shop->err), 0);
	CHECK_EQ_INT(store_put_ended(shop->store, &run, &shop->err), 0);
	CHECK_EQ_INT(store_commit(shop->store, STORE_NOW, &shop->err), 0);
}

TEST(only_facts_are_told_again)
{
	auto_shop struct shop shop;
	char run_id[RUN_ID_LEN + 1];

	shop_init(&shop);
	for (int outcome = OUTCOME_OK; outcome < OUTCOME_COUNT; outcome++) {
		const uint8_t key[32] = { (uint8_t)outcome };
		bool fact = outcome <= OUTCOME_SYNTAX_ERROR;

		CHECK_EQ_INT(outcome_is_fact((enum outcome)outcome), fact);
		write_cached(&shop, key, (enum outcome)outcome, 100);
		CHECK_EQ_INT(store_find_cached(shop.store, key, 0, run_id, &shop.err), !fact);
	}
}

TEST(the_newest_result_is_told_and_an_old_one_is_not)
{
	auto_shop struct shop shop;
	char run_id[RUN_ID_LEN + 1];

	shop_init(&shop);
	write_cached(&shop, THIS, OUTCOME_OK, 100);
	write_cached(&shop, THIS, OUTCOME_OK, 100);
	CHECK_EQ_INT(store_find_cached(
			     shop.store, THIS, shop.sample.run.ended_wall_us, run_id, &shop.err),
		0);
	CHECK_STR(run_id, shop.sample.run_id);
	CHECK_EQ_INT(store_find_cached(shop.store, THIS, shop.sample.run.ended_wall_us + 1, run_id,
			     &shop.err),
		1);
	CHECK_EQ_INT(store_find_cached(shop.store, THAT, 0, run_id, &shop.err), 1);
}

TEST(no_more_results_are_kept_than_may_be)
{
	auto_shop struct shop shop;
	char run_id[RUN_ID_LEN + 1];
	unsigned kept = 0;

	shop_init(&shop);
	for (uint8_t i = 0; i < 100; i++) {
		const uint8_t key[32] = { i };

		write_cached(&shop, key, OUTCOME_OK, 32);
		write_cached(&shop, key, OUTCOME_OK, 32);
		if (i == 50)
			shop_reopen(&shop);
	}
	for (uint8_t i = 0; i < 100; i++) {
		const uint8_t key[32] = { i };
		int found = store_find_cached(shop.store, key, 0, run_id, &shop.err);

		kept += found == 0;
		CHECK(found == 0 || i < 80);
		CHECK(found == 1 || i >= 60);
	}
	CHECK(kept >= 28 && kept <= 32);
}
