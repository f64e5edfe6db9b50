#include <stdlib.h>
#include <string.h>

#include "proto/internal/inspectmsg.h"
#include "tests/check.h"

static const char *words[] = { "json", "math" };
static struct inspect_list lists[] = { { words, 2 }, { words, 0 } };
static struct inspect_rule table[] = {
	{ 0, SUBJECT_PATH, RELATION_NOT_IN, 0, 0, 0 },
	{ 9, SUBJECT_WORD, RELATION_IN, UNLESS_STORE | UNLESS_BOUND, 1, 1 },
};
static struct inspect_setting settings[] = { { WEIGHT_DENY, 0, 7 }, { WEIGHT_ASK, 1, 0 } };
static struct inspect_policy policies[] = { { settings } };
static struct inspect_language languages[] = {
	{ "python", "(rules)", 7, "(scope)", 7, 0, 2 },
};

static const struct inspect_rules sample = {
	languages,
	1,
	table,
	2,
	lists,
	2,
	policies,
	1,
};

#define HEAD_LEN sizeof(struct inspect_head)

static struct inspect_head head_of(const struct buf *buf)
{
	struct inspect_head head;

	memcpy(&head, buf->bytes, sizeof(head));
	return head;
}

static void encode_sample(struct buf *buf)
{
	struct err err = ERR_INIT;

	buf_init(buf, 1 << 20);
	CHECK_EQ_INT(inspect_rules_encode(&sample, buf, &err), 0);
	CHECK_EQ_INT(inspect_head_check(&(struct inspect_head){ 0 }, 0, &err), -1);
}

TEST(rules_arrive_as_they_were_sent)
{
	struct arena arena;
	struct inspect_rules rules;
	struct err err = ERR_INIT;
	struct buf buf;

	arena_init(&arena, 1 << 20);
	encode_sample(&buf);
	CHECK(check_ok());
	CHECK_EQ_INT(head_of(&buf).kind, INSPECT_RULES);
	CHECK_EQ_INT(head_of(&buf).len, buf.len - HEAD_LEN);
	CHECK_EQ_INT(inspect_rules_decode(
			     &arena, buf.bytes + HEAD_LEN, buf.len - HEAD_LEN, &rules, &err),
		0);
	CHECK_EQ_INT(rules.language_count, 1);
	CHECK_STR(rules.languages[0].name, "python");
	CHECK_STR(rules.languages[0].rules, "(rules)");
	CHECK_STR(rules.languages[0].scope, "(scope)");
	CHECK_EQ_INT(rules.rule_count, 2);
	CHECK(memcmp(rules.rules, table, sizeof(table)) == 0);
	CHECK_EQ_INT(rules.list_count, 2);
	CHECK_EQ_INT(rules.lists[0].count, 2);
	CHECK_STR(rules.lists[0].words[1], "math");
	CHECK_EQ_INT(rules.policy_count, 1);
	CHECK(memcmp(rules.policies[0].settings, settings, sizeof(settings)) == 0);
	buf_done(&buf);
	arena_done(&arena);
}

TEST(rules_cut_anywhere_are_refused)
{
	struct arena arena;
	struct inspect_rules rules;
	struct buf buf;

	arena_init(&arena, 1 << 20);
	encode_sample(&buf);
	CHECK(check_ok());
	for (size_t len = 0; len < buf.len - HEAD_LEN; len++) {
		struct err err = ERR_INIT;

		CHECK_EQ_INT(
			inspect_rules_decode(&arena, buf.bytes + HEAD_LEN, len, &rules, &err), -1);
		CHECK_EQ_INT(err.code, ERR_PROTOCOL);
		arena_done(&arena);
	}
	buf_done(&buf);
}

TEST(rules_with_anything_behind_them_are_refused)
{
	struct arena arena;
	struct inspect_rules rules;
	struct err err = ERR_INIT;
	struct buf buf;

	arena_init(&arena, 1 << 20);
	encode_sample(&buf);
	CHECK(check_ok());
	CHECK_EQ_INT(buf_append_byte(&buf, 0), 0);
	CHECK_EQ_INT(inspect_rules_decode(
			     &arena, buf.bytes + HEAD_LEN, buf.len - HEAD_LEN, &rules, &err),
		-1);
	buf_done(&buf);
	arena_done(&arena);
}

/* Returns whether the sample is accepted with one setting changed. */
static bool taken_with(uint32_t *field, uint32_t value)
{
	uint32_t before = *field;
	struct arena arena;
	struct inspect_rules rules;
	struct err err = ERR_INIT;
	struct buf buf;
	bool taken;

	*field = value;
	arena_init(&arena, 1 << 20);
	buf_init(&buf, 1 << 20);
	taken = inspect_rules_encode(&sample, &buf, &err) == 0 &&
		inspect_rules_decode(
			&arena, buf.bytes + HEAD_LEN, buf.len - HEAD_LEN, &rules, &err) == 0;
	buf_done(&buf);
	arena_done(&arena);
	*field = before;
	return taken;
}

TEST(numbers_that_name_nothing_are_refused)
{
	CHECK(taken_with(&table[0].start, 3));
	CHECK(!taken_with(&table[0].subject, SUBJECT_COUNT));
	CHECK(!taken_with(&table[0].relation, RELATION_COUNT));
	CHECK(!taken_with(&table[0].unless, UNLESS_ALL + 1));
	CHECK(!taken_with(&table[0].first, 2));
	CHECK(!taken_with(&table[1].beside, 3));
	CHECK(taken_with(&table[1].beside, 2));
	CHECK(!taken_with(&settings[0].list, 2));
	CHECK(!taken_with(&settings[0].weight, WEIGHT_COUNT));
	CHECK(!taken_with(&languages[0].rule_first, 1));
	CHECK(!taken_with(&languages[0].rule_count, 3));
}

TEST(a_rule_that_is_off_needs_no_list)
{
	settings[0].weight = 0;
	CHECK(taken_with(&settings[0].list, 99));
	settings[0].weight = 1;
}

static int decode_findings(const struct buf *buf, uint32_t rule_count, struct arena *arena,
	struct inspect_findings *ret_findings)
{
	struct err err = ERR_INIT;

	return inspect_findings_decode(
		arena, buf->bytes + HEAD_LEN, buf->len - HEAD_LEN, rule_count, ret_findings, &err);
}

TEST(findings_arrive_as_they_were_sent)
{
	struct inspect_finding ones[] = { { INSPECT_BYTES_NUL, 1, 2, 0, "" },
		{ INSPECT_BUILTIN_COUNT + 1, 30, 40, 4, "eval" } };
	struct inspect_findings sent = { ones, 2, true };
	struct inspect_findings got;
	struct err err = ERR_INIT;
	struct arena arena;
	struct buf buf;

	arena_init(&arena, 1 << 20);
	buf_init(&buf, 1 << 20);
	CHECK_EQ_INT(inspect_findings_encode(77, &sent, &buf, &err), 0);
	CHECK_EQ_INT(head_of(&buf).id, 77);
	CHECK_EQ_INT(decode_findings(&buf, 2, &arena, &got), 0);
	CHECK_EQ_INT(got.count, 2);
	CHECK(got.cut);
	CHECK_EQ_INT(got.findings[1].line, 30);
	CHECK_EQ_INT(got.findings[1].text_len, 4);
	CHECK(memcmp(got.findings[1].text, "eval", 4) == 0);
	buf_done(&buf);
	arena_done(&arena);
}

TEST(findings_of_rules_that_were_never_sent_are_refused)
{
	struct inspect_finding one = { INSPECT_BUILTIN_COUNT + 2, 1, 1, 0, "" };
	struct inspect_findings sent = { &one, 1, false };
	struct inspect_findings got;
	struct err err = ERR_INIT;
	struct arena arena;
	struct buf buf;

	arena_init(&arena, 1 << 20);
	buf_init(&buf, 1 << 20);
	CHECK_EQ_INT(inspect_findings_encode(1, &sent, &buf, &err), 0);
	CHECK_EQ_INT(decode_findings(&buf, 2, &arena, &got), -1);
	CHECK_EQ_INT(decode_findings(&buf, 3, &arena, &got), 0);
	buf_done(&buf);
	arena_done(&arena);
}

TEST(findings_whose_text_is_no_text_are_refused)
{
	struct inspect_finding one = { 0, 1, 1, 2, "\xc3(" };
	struct inspect_findings sent = { &one, 1, false };
	struct inspect_findings got;
	struct err err = ERR_INIT;
	struct arena arena;
	struct buf buf;

	arena_init(&arena, 1 << 20);
	buf_init(&buf, 1 << 20);
	CHECK_EQ_INT(inspect_findings_encode(1, &sent, &buf, &err), 0);
	CHECK_EQ_INT(decode_findings(&buf, 2, &arena, &got), -1);
	buf_done(&buf);
	arena_done(&arena);
}

TEST(more_findings_than_there_is_room_for_are_refused)
{
	uint32_t body[] = { INSPECT_FINDINGS_MAX + 1, 0 };
	struct inspect_findings got;
	struct err err = ERR_INIT;
	struct arena arena;

	arena_init(&arena, 1 << 20);
	CHECK_EQ_INT(
		inspect_findings_decode(&arena, (const char *)body, sizeof(body), 2, &got, &err),
		-1);
	arena_done(&arena);
}

TEST(the_fullest_answer_fits_its_ceiling)
{
	static struct inspect_finding ones[INSPECT_FINDINGS_MAX];
	struct inspect_findings sent = { ones, INSPECT_FINDINGS_MAX, true };
	struct inspect_findings got;
	struct err err = ERR_INIT;
	struct arena arena;
	struct buf buf;

	for (uint32_t i = 0; i < INSPECT_FINDINGS_MAX; i++) {
		ones[i].text_len = INSPECT_TEXT_MAX;
		memset(ones[i].text, 'x', INSPECT_TEXT_MAX);
	}
	arena_init(&arena, 1 << 20);
	buf_init(&buf, HEAD_LEN + INSPECT_ANSWER_MAX);
	CHECK_EQ_INT(inspect_findings_encode(1, &sent, &buf, &err), 0);
	CHECK_EQ_INT(decode_findings(&buf, 0, &arena, &got), 0);
	buf_done(&buf);
	arena_done(&arena);
}

TEST(a_head_is_held_against_what_may_come_now)
{
	struct inspect_head head = { INSPECT_MAGIC, INSPECT_FINDINGS, 0, INSPECT_ANSWER_MAX };
	struct err err = ERR_INIT;

	CHECK_EQ_INT(inspect_head_check(&head, 1U << INSPECT_FINDINGS, &err), 0);
	CHECK_EQ_INT(inspect_head_check(&head, 1U << INSPECT_READY, &err), -1);
	head.len++;
	CHECK_EQ_INT(inspect_head_check(&head, 1U << INSPECT_FINDINGS, &err), -1);
	head.len = 0;
	head.magic++;
	CHECK_EQ_INT(inspect_head_check(&head, 1U << INSPECT_FINDINGS, &err), -1);
	head = (struct inspect_head){ INSPECT_MAGIC, 4000000000U, 0, 0 };
	CHECK_EQ_INT(inspect_head_check(&head, ~0U, &err), -1);
}

TEST(a_program_past_the_ceiling_is_sent_only_as_far_as_to_show_it)
{
	size_t len = INSPECT_CODE_MAX;
	struct err err = ERR_INIT;
	struct inspect_check_head head = inspect_check_head(1, 0, 0, &len);

	CHECK_EQ_INT(len, INSPECT_CODE_MAX);
	len = 100 * (size_t)INSPECT_CODE_MAX;
	head = inspect_check_head(1, 2, 3, &len);
	CHECK_EQ_INT(len, INSPECT_CODE_MAX + 1);
	CHECK_EQ_INT(inspect_head_check(&head.head, 1U << INSPECT_CHECK, &err), 0);
}

TEST(a_check_is_two_numbers_and_a_program)
{
	static const char body[] = "\1\0\0\0\2\0\0\0print(1)";
	struct inspect_check check;
	struct err err = ERR_INIT;

	CHECK_EQ_INT(inspect_check_decode(body, sizeof(body) - 1, &check, &err), 0);
	CHECK_EQ_INT(check.policy, 1);
	CHECK_EQ_INT(check.language, 2);
	CHECK_EQ_INT(check.code_len, 8);
	CHECK_EQ_INT(inspect_check_decode(body, 7, &check, &err), -1);
	CHECK_EQ_INT(inspect_check_decode(body, 8, &check, &err), 0);
	CHECK_EQ_INT(check.code_len, 0);
}

TEST(a_full_buffer_is_left_as_it_was)
{
	struct err err = ERR_INIT;
	struct buf buf;

	buf_init(&buf, 40);
	CHECK_EQ_INT(buf_append_text(&buf, "before"), 0);
	CHECK_EQ_INT(inspect_rules_encode(&sample, &buf, &err), -1);
	CHECK_EQ_INT(buf.len, 6);
	CHECK_EQ_INT(inspect_ready_encode("no", &buf, &err), 0);
	buf_done(&buf);
}
