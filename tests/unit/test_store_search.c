/*
 * Search by words.  A search must find the same runs as a plain look at each run, settled or not,
 * whichever way the search takes.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "bench/herd.h"
#include "proto/base/container.h"
#include "store/answers.h"
#include "store/base/db.h"
#include "store/base/texts.h"
#include "store/read/word_search.h"
#include "store/write/writer.h"
#include "tests/check.h"

#define HERD 700U

static struct bytes text(const char *words)
{
	return (struct bytes){ words, strlen(words) };
}

static void put(struct shop *shop, const char *code, const char *out)
{
	sample_next(&shop->sample);
	shop->sample.spec.code = text(code);
	shop->sample.result.out.head = text(out);
	CHECK_EQ_INT(sample_write(shop->store, &shop->sample, &shop->err), 0);
}

/* Settles everything, however few runs wait. */
static void settle(struct shop *shop)
{
	shop->store->writer->index.goes_on = true;
	while (store_tidy(shop->store, &shop->err) > 0)
		;
}

static int64_t number(struct shop *shop, const char *sql)
{
	int64_t found = -1;

	(void)db_number(shop->store, sql, -1, &found, &shop->err);
	return found;
}

/* Returns how many runs the search finds; -1: the query fails. */
static int count(struct shop *shop, const char *question)
{
	const struct store_filter filter = { .all_callers = true, .text = question, .limit = 1000 };
	struct value *page = NULL;

	if (store_list(shop->store, &filter, &shop->arena, &page, &shop->err) < 0)
		return -1;
	return (int)value_get(page, "runs")->list.count;
}

static void stock(struct shop *shop)
{
	shop_init(shop);
	CHECK(shop->store);
	put(shop, "import os\nprint(os.environ)\n", "PATH=/usr/bin\n");
	put(shop, "raise ValueError('no such thing')\n", "");
	put(shop, "print('Grüße aus Köln')\n", "Grüße aus Köln\n");
	put(shop, "memory_limit = 12\n", "one\ntwo\nthree\n");
	put(shop, "import os\nprint(os.environ)\n", "HOME=/work\n");
}

static void check_words(struct shop *shop)
{
	CHECK_EQ_INT(count(shop, "environ"), 2);
	CHECK_EQ_INT(count(shop, "ENVIRON import"), 2);
	CHECK_EQ_INT(count(shop, "os.environ"), 2);
	CHECK_EQ_INT(count(shop, "environ.os"), 0);
	CHECK_EQ_INT(count(shop, "path"), 1);
	CHECK_EQ_INT(count(shop, "environ path"), 0); /* one in the program, one in the output */
	CHECK_EQ_INT(count(shop, "such no"), 1);
	CHECK_EQ_INT(count(shop, "\"such no\""), 0);
	CHECK_EQ_INT(count(shop, "\"no such\""), 1);
	CHECK_EQ_INT(count(shop, "koln"), 1);
	CHECK_EQ_INT(count(shop, "KÖLN grüsse"), 0);
	CHECK_EQ_INT(count(shop, "KÖLN GRÜßE"), 1);
	CHECK_EQ_INT(count(shop, "memory"), 1);
	CHECK_EQ_INT(count(shop, "limit memory"), 1);
	CHECK_EQ_INT(count(shop, "memory_limit"), 1);
	CHECK_EQ_INT(count(shop, "mem"), 0);
	CHECK_EQ_INT(count(shop, "two three"), 1);
	CHECK_EQ_INT(count(shop, "absent"), 0);
}

TEST(words_are_found_before_and_after_a_run_settles)
{
	auto_shop struct shop shop;

	stock(&shop);
	check_words(&shop);
	settle(&shop);
	CHECK_EQ_INT(number(&shop, "SELECT count(*) FROM pending"), 0);
	check_words(&shop);
}

TEST(words_are_found_whichever_way_is_taken)
{
	auto_shop struct shop shop;

	stock(&shop);
	settle(&shop);
	search_few = 0;
	check_words(&shop);
	search_asked_most = 1;
	check_words(&shop);
	search_few = 10000;
	search_asked_most = 500;
}

TEST(a_text_of_many_runs_is_one_entry)
{
	auto_shop struct shop shop;

	shop_init(&shop);
	for (int i = 0; i < 300; i++)
		put(&shop, "print('the same a thousand times')", "the same\n");
	settle(&shop);
	CHECK_EQ_INT(number(&shop, "SELECT count(*) FROM texts"), 2);
	CHECK_EQ_INT(count(&shop, "thousand"), 300);
	CHECK_EQ_INT(count(&shop, "same"), 300);
}

/* The index's query language has operators, columns and brackets; a search has only words. */
TEST(no_question_means_more_than_its_words)
{
	auto_shop struct shop shop;
	static const char *const questions[] = { "\"", "\"\"", "\"os", "os\"", "os OR nothing",
		"os AND", "NOT os", "NEAR(os environ)", "text:os", "{text}: os", "^os", "os*",
		"-os", "(os", "os)", "+ + +", "' OR 1=1 --", "\\", ";", "\t\n", "", " ", "*",
		"words", "\xff\xfe", "rank", "%s%n" };

	stock(&shop);
	for (int settled = 0; settled < 2; settled++) {
		for (size_t i = 0; i < COUNT_OF(questions); i++) {
			if (count(&shop, questions[i]) < 0)
				(void)printf("# question %zu: %s\n", i, shop.err.text);
			CHECK(count(&shop, questions[i]) >= 0);
		}
		CHECK_EQ_INT(count(&shop, "os OR nothing"), 0);
		CHECK_EQ_INT(count(&shop, "NOT os"), 0);
		CHECK_EQ_INT(count(&shop, "os*"), 2);
		CHECK_EQ_INT(count(&shop, "+ + +"), 0);
		CHECK_EQ_INT(count(&shop, ""), 0);
		settle(&shop);
	}
}

TEST(bytes_that_are_no_text_are_not_indexed_and_harm_nothing)
{
	auto_shop struct shop shop;
	char bytes[600];

	stock(&shop);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7);
	sample_next(&shop.sample);
	shop.sample.result.out.head = (struct bytes){ bytes, sizeof(bytes) };
	CHECK_EQ_INT(sample_write(shop.store, &shop.sample, &shop.err), 0);
	put(&shop, "print('latin')", "\xe9t\xe9 summer \xff\xc0");
	CHECK_EQ_INT(count(&shop, "summer"), 1);
	settle(&shop);
	CHECK_EQ_INT(count(&shop, "summer"), 1);
	CHECK_EQ_INT(count(&shop, "path"), 1);
}

TEST(a_question_that_takes_too_long_is_given_up_and_the_next_is_answered)
{
	auto_shop struct shop shop;
	struct value *params;
	struct store_answer answer;
	struct store_question question = { .method = METHOD_RUNS_LIST, .all_callers = true };

	stock(&shop);
	params = value_map(&shop.arena);
	(void)value_map_put(&shop.arena, params, "text", value_text(&shop.arena, "environ"));
	question.params = params;
	shop.store->patience_ms = -1;
	CHECK_EQ_INT(store_answer(shop.store, &question, &shop.arena, &answer, &shop.err), -1);
	CHECK_EQ_INT(shop.err.code, ERR_TIMEOUT);
	shop.store->patience_ms = 10000;
	CHECK_EQ_INT(store_answer(shop.store, &question, &shop.arena, &answer, &shop.err), 0);
	CHECK_EQ_INT(value_get(answer.value, "runs")->list.count, 2);
	shop.store->patience_ms = 0;
}

/* ---- many runs ---------------------------------------------------------------------------- */

struct seen {
	char run_id[RUN_ID_LEN + 1];
	char agent[32];
	char *texts[TEXTS_OF_A_RUN];
	uint32_t uid;
	const char *rules[2];
	const char *policy;
};

static struct seen seen[HERD];

static char *copy(struct bytes bytes)
{
	return strndup(bytes.data ? bytes.data : "", bytes.len);
}

static void note(struct seen *at, const struct store_run *run)
{
	const struct policy_verdict *verdict = &run->result->verdict;

	cut_printf(at->run_id, sizeof(at->run_id), "%s", run->run_id);
	cut_printf(at->agent, sizeof(at->agent), "%s", run->agent ? run->agent : "");
	at->texts[0] = copy(run->spec->code);
	at->texts[1] = copy(run->result->out.head);
	at->texts[2] = copy(run->result->errout.head);
	at->uid = run->uid;
	at->policy = run->policy;
	for (size_t i = 0; i < COUNT_OF(at->rules); i++)
		at->rules[i] = i < verdict->finding_count ? verdict->findings[i].rule : "";
}

static void forget_seen(void)
{
	for (size_t i = 0; i < HERD; i++) {
		for (size_t k = 0; k < TEXTS_OF_A_RUN; k++) {
			free(seen[i].texts[k]);
			seen[i].texts[k] = NULL;
		}
	}
}

static void write_herd(struct shop *shop, struct herd *herd)
{
	for (unsigned i = 0; i < HERD; i++) {
		struct store_run run;

		CHECK_EQ_INT(herd_next(herd, &run, &shop->err), 0);
		note(&seen[i], &run);
		CHECK_EQ_INT(store_begin(shop->store, &shop->err), 0);
		CHECK_EQ_INT(store_put_ended(shop->store, &run, &shop->err), 0);
		CHECK_EQ_INT(store_commit(shop->store, STORE_SOON, &shop->err), 0);
	}
}

/* Returns whether the text has the word, with no letter or digit beside it. */
static bool has_word(const char *text_of_run, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = text_of_run; (at = strstr(at, word)); at++) {
		if ((at == text_of_run || !isalnum((unsigned char)at[-1])) &&
			!isalnum((unsigned char)at[len]))
			return true;
	}
	return false;
}

static bool belongs(const struct seen *run, const struct store_filter *filter)
{
	bool found = false;

	for (size_t i = 0; i < TEXTS_OF_A_RUN; i++)
		found = found || has_word(run->texts[i], filter->text);
	return found && (filter->all_callers || filter->uid == run->uid) &&
	       (!filter->agent || strcmp(filter->agent, run->agent) == 0) &&
	       (!filter->rule || strcmp(filter->rule, run->rules[0]) == 0 ||
		       strcmp(filter->rule, run->rules[1]) == 0) &&
	       (!filter->policy || strcmp(filter->policy, run->policy) == 0);
}

/* Compares all pages of the filter with a look at each run. */
static void check_pages(struct shop *shop, struct store_filter filter)
{
	char before[RUN_ID_LEN + 1];
	bool more = true;
	unsigned at = HERD;

	filter.limit = 23;
	while (more) {
		struct value *page = NULL;
		struct value *runs;

		CHECK_EQ_INT(store_list(shop->store, &filter, &shop->arena, &page, &shop->err), 0);
		runs = value_get(page, "runs");
		more = value_as_bool(value_get(page, "more"), true);
		for (size_t i = 0; value_at(runs, i); i++) {
			const char *run_id = value_as_text(value_get(value_at(runs, i), "run_id"));

			do {
				CHECK(at > 0);
				at--;
			} while (!belongs(&seen[at], &filter));
			CHECK_STR(run_id, seen[at].run_id);
			cut_printf(before, sizeof(before), "%s", run_id);
		}
		filter.before_run_id = before;
		arena_done(&shop->arena);
	}
	while (at-- > 0)
		CHECK(!belongs(&seen[at], &filter));
}

static void check_herd(struct shop *shop)
{
	static const unsigned ranks[] = { 0, 1, 10, 100, 1000, 10000 };

	for (size_t i = 0; i < COUNT_OF(ranks); i++) {
		char word[16];

		herd_word(ranks[i], word);
		check_pages(shop, (struct store_filter){ .all_callers = true, .text = word });
		check_pages(shop, (struct store_filter){ .uid = 1002, .text = word });
		check_pages(shop, (struct store_filter){
					  .all_callers = true, .text = word, .agent = "agent-03" });
		check_pages(shop, (struct store_filter){ .all_callers = true,
					  .text = word,
					  .rule = "python.import.denied" });
		check_pages(shop, (struct store_filter){
					  .all_callers = true, .text = word, .policy = "strict" });
		CHECK(check_ok());
	}
	check_pages(shop, (struct store_filter){ .all_callers = true, .text = "import" });
	check_pages(shop, (struct store_filter){ .all_callers = true, .text = "defined" });
}

TEST(a_search_finds_what_a_look_at_each_run_finds)
{
	auto_shop struct shop shop;
	static struct herd herd;

	shop_init(&shop);
	herd_init(&herd, 7, HERD, 1);
	write_herd(&shop, &herd);
	for (int i = 0; i < 10; i++) /* the older half settles */
		CHECK(store_tidy(shop.store, &shop.err) >= 0);
	check_herd(&shop);
	search_few = 5;
	check_herd(&shop);
	search_asked_most = 3;
	check_herd(&shop);
	search_lead_most = 6;
	check_herd(&shop);
	search_lead_most = 300000;
	settle(&shop);
	check_herd(&shop);
	search_few = 10000;
	search_asked_most = 500;
	check_herd(&shop);
	herd_done(&herd);
	forget_seen();
}

/* ---- deletion ----------------------------------------------------------------------------- */

static void forget(struct shop *shop, const char *run_id)
{
	CHECK_EQ_INT(store_begin(shop->store, &shop->err), 0);
	CHECK_EQ_INT(word_index_remove(shop->store, &shop->store->writer->words, db_key_of(run_id),
			     &shop->err),
		0);
	CHECK_EQ_INT(store_commit(shop->store, STORE_SOON, &shop->err), 0);
}

TEST(what_is_forgotten_is_found_no_more_and_others_keep_their_texts)
{
	auto_shop struct shop shop;
	char first[RUN_ID_LEN + 1];

	shop_init(&shop);
	put(&shop, "print('shared')", "alone\n");
	memcpy(first, shop.sample.run_id, sizeof(first));
	put(&shop, "print('shared')", "print('shared')");
	settle(&shop);
	forget(&shop, first);
	CHECK_EQ_INT(count(&shop, "shared"), 1);
	CHECK_EQ_INT(count(&shop, "alone"), 0);
	CHECK_EQ_INT(number(&shop, "SELECT count(*) FROM texts"), 1);
	CHECK_EQ_INT(number(&shop, "SELECT count(*) FROM words WHERE words MATCH 'alone'"), 0);
	forget(&shop, shop.sample.run_id);
	CHECK_EQ_INT(count(&shop, "shared"), 0);
	CHECK_EQ_INT(number(&shop, "SELECT count(*) FROM texts"), 0);
	CHECK_EQ_INT(number(&shop, "SELECT count(*) FROM words WHERE words MATCH 'shared'"), 0);
	CHECK_EQ_INT(number(&shop, "SELECT count(*) FROM mentions"), 0);
	forget(&shop, first);
	put(&shop, "print('shared')", "");
	settle(&shop);
	CHECK_EQ_INT(count(&shop, "shared"), 1);
}

TEST(the_words_of_what_is_forgotten_leave_the_file_in_idle_moments)
{
	static const char in_index[] = "SELECT count(*) FROM words_data WHERE "
				       "instr(block, CAST('zyxneedle77' AS BLOB))";
	auto_shop struct shop shop;
	char needle[RUN_ID_LEN + 1];

	shop_init(&shop);
	put(&shop, "key = 'zyxneedle77'", "");
	memcpy(needle, shop.sample.run_id, sizeof(needle));
	settle(&shop);
	for (int i = 0; i < 200; i++) {
		char code[64];

		(void)snprintf(code, sizeof(code), "print(%d) # other%d", i, i);
		put(&shop, code, "");
		if (i % 20 == 0)
			settle(&shop);
	}
	settle(&shop);
	CHECK(number(&shop, in_index) > 0);
	forget(&shop, needle);
	CHECK_EQ_INT(store_tidy(shop.store, &shop.err) >= 0, 1);
	settle(&shop);
	CHECK_EQ_INT(number(&shop, in_index), 0);
	CHECK_EQ_INT(store_tidy(shop.store, &shop.err), 0);
	CHECK_EQ_INT(count(&shop, "other150"), 1);
	CHECK_EQ_INT(count(&shop, "zyxneedle77"), 0);
}
