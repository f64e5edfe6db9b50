#include <stdlib.h>

#include "cli/base/option_values.h"
#include "tests/check.h"

/* What a word means, as a number; -1 when it means nothing, with why in *err. */
static int64_t number_of(option_value *read, const char *word, struct err *err)
{
	struct arena arena;
	int64_t number;

	arena_init(&arena, 1 << 16);
	*err = (struct err)ERR_INIT;
	number = value_as_int(read(&arena, word, err), -1);
	arena_done(&arena);
	return number;
}

TEST(numbers_and_lengths_of_time_are_read_in_peoples_units)
{
	struct err err;

	CHECK_EQ_INT(number_of(option_count, "0", &err), 0);
	CHECK_EQ_INT(number_of(option_positive, "20", &err), 20);
	CHECK_EQ_INT(number_of(option_ms, "30s", &err), 30000);
	CHECK_EQ_INT(number_of(option_size, "10k", &err), 10240);
	CHECK_EQ_INT(number_of(option_user, "4001", &err), 4001);
	CHECK_EQ_INT(number_of(option_moment, "@1700000000", &err), 1700000000000000);
	CHECK_EQ_INT(err.code, ERR_NONE);
}

TEST(a_word_without_a_meaning_says_why)
{
	struct err err;

	CHECK_EQ_INT(number_of(option_positive, "0", &err), -1);
	CHECK_STR(err.text, "at least 1");
	CHECK_EQ_INT(number_of(option_count, "many", &err), -1);
	CHECK(err.code != ERR_NONE);
	CHECK_EQ_INT(number_of(option_ms, "10", &err), -1);
	CHECK(err.code != ERR_NONE);
	CHECK_EQ_INT(number_of(option_size, "10", &err), -1);
	CHECK_STR(err.text, "\"10\" has no unit: write 10k, 10m or 10g");
	CHECK_EQ_INT(number_of(option_user, "no-such-user-here", &err), -1);
	CHECK(err.code != ERR_NONE);
}

TEST(an_age_is_in_seconds_and_lies_in_the_past)
{
	struct err err;
	int64_t age = number_of(option_age, "2h", &err);

	CHECK(age >= 7200 && age <= 7260);
	CHECK_EQ_INT(number_of(option_age, "2099-01-01", &err), -1);
	CHECK_STR(err.text, "that is yet to come");
}

TEST(a_secret_is_the_value_of_a_variable_that_is_there)
{
	struct err err = ERR_INIT;
	struct arena arena;

	arena_init(&arena, 1 << 16);
	(void)setenv("CED_TEST_SECRET", "hidden", 1);
	CHECK_STR(value_as_text(option_secret(&arena, "CED_TEST_SECRET", &err)), "hidden");
	(void)unsetenv("CED_TEST_SECRET");
	CHECK(option_secret(&arena, "CED_TEST_SECRET", &err) == NULL);
	CHECK_STR(err.text, "there is no variable CED_TEST_SECRET, or it is empty");
	arena_done(&arena);
}

TEST(a_hash_has_its_prefix_and_a_label_its_name)
{
	struct err err = ERR_INIT;
	struct value *label;
	struct arena arena;

	arena_init(&arena, 1 << 16);
	CHECK_STR(value_as_text(option_hash(&arena, "abc", &err)), "sha256:abc");
	CHECK_STR(value_as_text(option_hash(&arena, "sha256:abc", &err)), "sha256:abc");
	label = option_label(&arena, "env=a=b", &err);
	CHECK_STR(value_as_text(value_get(label, "env")), "a=b");
	CHECK_EQ_INT(err.code, ERR_NONE);
	CHECK(option_label(&arena, "=x", &err) == NULL);
	CHECK_STR(err.text, "it is written as NAME=VALUE");
	CHECK(option_language(&arena, "Python", &err) == NULL);
	arena_done(&arena);
}
