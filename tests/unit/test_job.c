#include <string.h>

#include "proto/job/job.h"
#include "tests/check.h"

TEST(every_outcome_has_a_word_of_its_own)
{
	for (unsigned i = OUTCOME_OK; i < OUTCOME_COUNT; i++)
		CHECK_EQ_INT(outcome_from_word(outcome_word((enum outcome)i)), i);
}

TEST(other_words_are_no_outcomes)
{
	CHECK_EQ_INT(outcome_from_word(NULL), OUTCOME_NONE);
	CHECK_EQ_INT(outcome_from_word(""), OUTCOME_NONE);
	CHECK_EQ_INT(outcome_from_word("none"), OUTCOME_NONE);
	CHECK_EQ_INT(outcome_from_word("OK"), OUTCOME_NONE);
	CHECK_STR(outcome_word(OUTCOME_COUNT), "none");
}

TEST(ran_and_decision_have_words)
{
	CHECK_STR(ran_word(RAN_NO), "no");
	CHECK_STR(ran_word(RAN_YES), "yes");
	CHECK_STR(ran_word(RAN_UNKNOWN), "unknown");
	CHECK_STR(policy_decision_word(POLICY_ALLOW), "allow");
	CHECK_STR(policy_decision_word(POLICY_DENY), "deny");
	CHECK_STR(policy_decision_word(POLICY_OBSERVE), "observe");
	CHECK_STR(policy_decision_word(POLICY_ASK), "ask");
}

TEST(the_code_hash_is_that_of_the_bytes)
{
	struct job_spec spec = { .code = { "abc", 3 } };
	char text[HASH_TEXT_LEN + 1];

	job_code_hash(&spec, text);
	CHECK_STR(text, "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static bool same_input(const struct job_spec *a, const struct job_spec *b)
{
	char first[HASH_TEXT_LEN + 1], second[HASH_TEXT_LEN + 1];

	job_input_hash(a, first);
	job_input_hash(b, second);
	return strcmp(first, second) == 0;
}

TEST(the_input_hash_sees_stdin_files_args_and_env)
{
	struct bytes arg = { "x", 1 };
	struct job_input_file file = { "x", { "x", 1 }, 0644 };
	struct job_pair pair = { "x", { "x", 1 } };
	const struct job_spec nothing = { .code = { "abc", 3 } };
	const struct job_spec specs[] = {
		nothing,
		{ .has_input = true, .input = { "", 0 } },
		{ .has_input = true, .input = { "x", 1 } },
		{ .args = &arg, .arg_count = 1 },
		{ .files = &file, .file_count = 1 },
		{ .env = &pair, .env_count = 1 },
	};
	const size_t count = sizeof(specs) / sizeof(specs[0]);

	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < count; j++)
			CHECK_EQ_INT(same_input(&specs[i], &specs[j]), i == j);
}

TEST(the_input_hash_does_not_see_the_program)
{
	const struct job_spec one = { .code = { "abc", 3 }, .entrypoint = "a" };
	const struct job_spec other = { .code = { "def", 3 }, .entrypoint = "b", .id = "x" };

	CHECK(same_input(&one, &other));
}

TEST(the_input_hash_keeps_parts_apart)
{
	struct bytes first[] = { { "ab", 2 }, { "c", 1 } };
	struct bytes second[] = { { "a", 1 }, { "bc", 2 } };
	const struct job_spec one = { .args = first, .arg_count = 2 };
	const struct job_spec other = { .args = second, .arg_count = 2 };

	CHECK(!same_input(&one, &other));
}

TEST(the_input_hash_sees_the_mode_of_a_file)
{
	struct job_input_file first = { "x", { "x", 1 }, 0644 };
	struct job_input_file second = { "x", { "x", 1 }, 0755 };
	const struct job_spec one = { .files = &first, .file_count = 1 };
	const struct job_spec other = { .files = &second, .file_count = 1 };

	CHECK(!same_input(&one, &other));
}
