#include <string.h>

#include "proto/base/clock.h"
#include "proto/ulid.h"
#include "tests/check.h"

TEST(ids_have_the_form_of_a_ulid)
{
	struct ulid_source source = { 0 };
	char text[ULID_LEN + 1];
	struct err err = ERR_INIT;

	CHECK_EQ_INT(ulid_next(&source, text, &err), 0);
	CHECK(ulid_is_valid(text));
	CHECK_EQ_INT(strlen(text), ULID_LEN);
}

TEST(ids_carry_the_time)
{
	struct ulid_source source = { 0 };
	char text[ULID_LEN + 1];
	struct err err = ERR_INIT;

	CHECK_EQ_INT(ulid_next_at(&source, 1469918176385, text, &err), 0);
	CHECK(strncmp(text, "01ARYZ6S41", 10) == 0);
	CHECK_EQ_INT(ulid_time_ms(text), 1469918176385);
}

TEST(ids_are_strictly_increasing)
{
	struct ulid_source source = { 0 };
	char last[ULID_LEN + 1] = "", text[ULID_LEN + 1];
	struct err err = ERR_INIT;

	for (int i = 0; i < 20000; i++) {
		CHECK_EQ_INT(ulid_next(&source, text, &err), 0);
		CHECK(strcmp(text, last) > 0);
		memcpy(last, text, sizeof(last));
	}
}

TEST(ids_increase_when_the_clock_is_set_back)
{
	struct ulid_source source = { 0 };
	char last[ULID_LEN + 1], text[ULID_LEN + 1];
	struct err err = ERR_INIT;

	CHECK_EQ_INT(ulid_next_at(&source, 2000000, last, &err), 0);
	CHECK_EQ_INT(ulid_next_at(&source, 1000000, text, &err), 0);
	CHECK(strcmp(text, last) > 0);
	CHECK_EQ_INT(ulid_time_ms(text), 2000000);
}

TEST(when_the_random_part_is_spent_the_time_goes_up)
{
	struct ulid_source source = { .last_ms = 5 };
	char text[ULID_LEN + 1];
	struct err err = ERR_INIT;

	memset(source.random, 0xff, sizeof(source.random));
	CHECK_EQ_INT(ulid_next_at(&source, 5, text, &err), 0);
	CHECK_EQ_INT(ulid_time_ms(text), 6);
}

TEST(carrying_goes_through_bytes)
{
	struct ulid_source source = { .last_ms = 5 };
	char text[ULID_LEN + 1];
	struct err err = ERR_INIT;

	memset(source.random + 8, 0xff, 2);
	source.random[7] = 0xfe;
	CHECK_EQ_INT(ulid_next_at(&source, 5, text, &err), 0);
	CHECK_EQ_INT(ulid_time_ms(text), 5);
	CHECK_STR(text, "000000000500000000000FY000");
}

TEST(the_lowest_bits_never_begin_again_within_a_millisecond)
{
	struct ulid_source source = { .last_ms = 5 };
	char text[ULID_LEN + 1];
	struct err err = ERR_INIT;

	source.random[7] = 0x0f;
	memset(source.random + 8, 0xff, 2);
	CHECK_EQ_INT(ulid_next_at(&source, 5, text, &err), 0);
	CHECK_EQ_INT(ulid_time_ms(text), 6);
}

TEST(after_the_last_id_of_all_there_is_none)
{
	struct ulid_source source = { .last_ms = (UINT64_C(1) << 48) - 1 };
	char text[ULID_LEN + 1] = "";
	struct err err = ERR_INIT;

	memset(source.random, 0xff, sizeof(source.random));
	source.random[9] = 0xfe;
	CHECK_EQ_INT(ulid_next_at(&source, 5, text, &err), 0);
	CHECK_STR(text, "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
	CHECK_EQ_INT(ulid_next_at(&source, 5, text, &err), -1);
}

TEST(two_sources_do_not_meet)
{
	struct ulid_source one = { 0 }, other = { 0 };
	char first[ULID_LEN + 1], second[ULID_LEN + 1];
	struct err err = ERR_INIT;

	CHECK_EQ_INT(ulid_next_at(&one, 5, first, &err), 0);
	CHECK_EQ_INT(ulid_next_at(&other, 5, second, &err), 0);
	CHECK(strcmp(first, second) != 0);
}

TEST(what_is_passed_is_never_given)
{
	struct ulid_source source = { 0 };
	char id[ULID_LEN + 1];
	char next[ULID_LEN + 1];

	CHECK_EQ_INT(ulid_next_at(&source, 1000, id, NULL), 0);
	CHECK_EQ_INT(ulid_next_at(&(struct ulid_source){ 0 }, 5000, next, NULL), 0);
	ulid_pass(&source, next);
	ulid_pass(&source, id); /* an older time changes nothing */
	CHECK_EQ_INT(ulid_next_at(&source, 5000, id, NULL), 0);
	CHECK_EQ_INT(ulid_time_ms(id), 5001);
	CHECK_EQ_INT(ulid_next_at(&source, 6000, id, NULL), 0);
	CHECK_EQ_INT(ulid_time_ms(id), 6000);
}

TEST(a_place_is_the_time_and_the_bits_that_rise_within_it)
{
	CHECK(ulid_same_place("01ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAV"));
	CHECK(ulid_same_place("01ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEK0000000000005FAV"));
	CHECK(!ulid_same_place("01ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAW"));
	CHECK(!ulid_same_place("01ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEMTSV4RRFFQ69G5FAV"));
}

TEST(other_texts_are_no_ids)
{
	CHECK(ulid_is_valid("01ARZ3NDEKTSV4RRFFQ69G5FAV"));
	CHECK(!ulid_is_valid(""));
	CHECK(!ulid_is_valid("01ARZ3NDEKTSV4RRFFQ69G5FA"));
	CHECK(!ulid_is_valid("01ARZ3NDEKTSV4RRFFQ69G5FAVV"));
	CHECK(!ulid_is_valid("01arz3ndektsv4rrffq69g5fav"));
	CHECK(!ulid_is_valid("01ARZ3NDEKTSV4RRFFQ69G5FAU"));
	CHECK(!ulid_is_valid("81ARZ3NDEKTSV4RRFFQ69G5FAV"));
}
