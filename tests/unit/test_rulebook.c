#include <string.h>

#include "daemon/inspector/inspector.h"
#include "daemon/policy/rulebook.h"
#include "proto/base/clock.h"
#include "tests/check.h"
#include "tests/fault.h"

#define HEAD_LEN sizeof(struct inspect_head)

TEST(a_rulebook_without_memory_says_so)
{
	FAULT_LOOP(FAULT_ALLOC) {
		struct err err = ERR_INIT;
		struct rulebook *book = rulebook_load(NULL, &err);

		CHECK(book || fault_hit());
		CHECK(book || err.code != ERR_NONE);
		rulebook_free(book);
	}
}

static bool is_named_after(const char *id, const char *language)
{
	return strncmp(id, language, strlen(language)) == 0 && id[strlen(language)] == '.';
}

TEST(every_rule_has_words_for_every_policy)
{
	struct err err = ERR_INIT;
	struct rulebook *book = rulebook_load(NULL, &err);
	const struct policy *policy;

	CHECK(book);
	policy = rulebook_find(book, "strict");
	for (uint32_t l = 0; l < book->language_count; l++) {
		const struct inspect_language *texts = &book->languages[l].texts;

		for (uint32_t i = 0; i < INSPECT_BUILTIN_COUNT + texts->rule_count; i++) {
			uint32_t rule = i < INSPECT_BUILTIN_COUNT ? i : i + texts->rule_first;
			struct rule_words words = rulebook_words(book, policy, l, rule);

			CHECK(words.id && words.message && words.hint);
			CHECK(is_named_after(words.id, book->languages[l].name) ||
				strcmp(words.id, "policy.late") == 0);
		}
	}
	rulebook_free(book);
}

TEST(what_could_not_be_checked_is_denied_under_every_policy)
{
	struct err err = ERR_INIT;
	struct rulebook *book = rulebook_load(NULL, &err);

	CHECK(book);
	for (uint32_t i = 0; i < book->policy_count; i++)
		CHECK_EQ_INT(
			rulebook_words(book, &book->policies[i], 0, INSPECT_LATE).mode, MODE_DENY);
	rulebook_free(book);
}

/* The first rule that finds something in so many bytes of repeated `piece`. */
static const char *first_in(const char *piece, size_t len, uint64_t looks, int64_t cpu_us)
{
	static char code[INSPECT_CODE_MAX + 1];
	struct err err = ERR_INIT;
	struct rulebook *book = rulebook_load(NULL, &err);
	struct inspector *inspector = book ? inspector_new(book->message.bytes + HEAD_LEN,
						     book->message.len - HEAD_LEN, &err)
					   : NULL;
	uint32_t python = book ? (uint32_t)rulebook_language(book, "python") : 0;
	struct inspect_check check = { 0, python, code, len };
	struct inspect_findings findings = { 0 };
	struct effort effort;
	const char *id = "";

	for (size_t i = 0; i < len; i++)
		code[i] = piece[i % strlen(piece)];
	code[len] = '\0';
	if (!inspector)
		return "no inspector";
	check.policy = rulebook_find(book, "strict")->index;
	effort_begin(&effort, looks, cpu_us, NULL, NULL);
	if (inspector_check(inspector, &check, &effort, &findings, &err) < 0)
		id = "an error";
	else if (findings.count > 0)
		id = rulebook_words(
			book, &book->policies[check.policy], python, findings.findings[0].rule)
			     .id;
	inspector_free(inspector);
	rulebook_free(book);
	return id;
}

TEST(a_text_that_takes_too_long_is_cut_off_as_late)
{
	CHECK_STR(first_in("x = a + b\n", 200000, 1000000, 2000), "policy.late");
	CHECK_STR(first_in("import json as x\nx.a\n", 200004, 1000000, 2000), "policy.late");
	CHECK_STR(first_in("$ ) ", 200000, 1000000, 2000), "policy.late");
	CHECK_STR(first_in("x = 1\n", 60, 1000000, 10000000), "");
	CHECK_STR(first_in("x = a + b\n", 200000, 100, 60000000), "policy.late");
	CHECK_STR(first_in("import json as x\nx.a\n", 200004, 5000, 60000000), "policy.late");
}

TEST(a_dense_program_of_full_size_is_within_what_a_check_may_cost)
{
	const size_t len = INSPECT_CODE_MAX - 8;

	CHECK_STR(first_in("x = a + b\n", len / 10 * 10, INSPECT_LOOKS(len), 60000000), "");
	CHECK_STR(
		first_in("[1, {2: 3}, (a, b)]\n", len / 20 * 20, INSPECT_LOOKS(len), 60000000), "");
}

TEST(rules_that_count_are_counted_over_all_their_heads)
{
	struct err err = ERR_INIT;
	struct rulebook *book = rulebook_load(NULL, &err);

	CHECK(book);
	for (uint32_t i = 0; i < book->rule_count; i++) {
		const struct rule *rule = &book->rules[i];

		CHECK(rule->how.first <= i);
		CHECK_STR(book->rules[rule->how.first].id, rule->id);
		if (rule->beside)
			CHECK_STR(book->rules[rule->how.beside - 1].id, rule->beside);
	}
	rulebook_free(book);
}

TEST(a_check_of_what_was_never_sent_is_an_error)
{
	struct err err = ERR_INIT;
	struct rulebook *book = rulebook_load(NULL, &err);
	struct inspector *inspector;
	struct inspect_findings findings;
	struct inspect_check check = { 0, 99, "x", 1 };
	struct effort effort;

	CHECK(book);
	inspector =
		inspector_new(book->message.bytes + HEAD_LEN, book->message.len - HEAD_LEN, &err);
	CHECK(inspector);
	effort_begin(&effort, 1000, INSPECT_CHECK_US, NULL, NULL);
	CHECK_EQ_INT(inspector_check(inspector, &check, &effort, &findings, &err), -1);
	check = (struct inspect_check){ 99, 0, "x", 1 };
	CHECK_EQ_INT(inspector_check(inspector, &check, &effort, &findings, &err), -1);
	inspector_free(inspector);
	rulebook_free(book);
}
