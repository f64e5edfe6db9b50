#include <stdio.h>
#include <string.h>

#include "daemon/redact/encodings.h"
#include "tests/check.h"

static struct arena arena;

static const struct multi_match *forms(const char *secret)
{
	struct bytes bytes = { secret, strlen(secret) };

	arena_init(&arena, 8 << 20);
	return encodings_of(&arena, &bytes, 1);
}

static bool has(const struct multi_match *needles, const char *text)
{
	uint64_t looks = UINT64_MAX;
	size_t at = 0;

	return needles && multi_match_find(needles, text, strlen(text), &at, &looks) != NULL;
}

TEST(a_secret_is_known_as_it_is_and_in_a_dozen_forms)
{
	const struct multi_match *needles = forms("p\"ss w/rd\xc3\xa4!");

	CHECK(has(needles, "x p\"ss w/rd\xc3\xa4! y"));
	CHECK(has(needles, "\"p\\\"ss w/rd\xc3\xa4!\""));   /* JSON, as ced writes it */
	CHECK(has(needles, "\"p\\\"ss w/rd\\u00e4!\""));    /* JSON, as Python writes it */
	CHECK(has(needles, "\"p\\\"ss w/rd\\u00E4!\""));    /* JSON of other writers */
	CHECK(has(needles, "?q=p%22ss%20w%2Frd%C3%A4%21")); /* URLs */
	CHECK(has(needles, "/p%22ss%20w/rd%c3%a4%21"));     /* a path */
	CHECK(has(needles, "7022737320772F7264C3A421"));    /* hexadecimal */
	CHECK(has(needles, "cCJzcyB3L3Jkw6Qh"));            /* base64 */
	CHECK(!has(needles, "p'ss w/rd"));
	arena_done(&arena);
}

TEST(base64_is_known_wherever_the_secret_stands_in_it)
{
	/* echo -n "${before}hunter2hunter2${behind}" | base64 */
	const struct multi_match *needles = forms("hunter2hunter2");

	CHECK(has(needles, "aHVudGVyMmh1bnRlcjI="));
	CHECK(has(needles, "eGh1bnRlcjJodW50ZXIyeXo="));
	CHECK(has(needles, "eHlodW50ZXIyaHVudGVyMno="));
	CHECK(has(needles, "eHl6aHVudGVyMmh1bnRlcjJ6"));
	CHECK(!has(needles, "aHVudGVyM2h1bnRlcjM="));
	arena_done(&arena);
}

TEST(base64_of_urls_is_known_too)
{
	const struct multi_match *needles = forms("\xfb\xff\xfe\xfb\xff\xfe\xfb\xff\xfe");

	CHECK(has(needles, "-__--__--__-"));
	CHECK(has(needles, "+//++//++//+"));
	arena_done(&arena);
}

TEST(a_long_secret_is_known_by_its_parts)
{
	static char secret[4097];
	static char part[64];
	const struct multi_match *needles;

	for (size_t i = 0; i < 4096; i++)
		secret[i] = (char)('!' + (i * 7919 + i / 90) % 90);
	needles = forms(secret);
	CHECK(has(needles, secret));
	memcpy(part, secret + 48 * 20, 51);
	CHECK(has(needles, part));
	memcpy(part, secret + 4096 - 51, 51);
	CHECK(has(needles, part));
	arena_done(&arena);
}

TEST(sixty_four_secrets_of_all_sizes_are_no_trouble)
{
	static char texts[SECRETS_MAX][256];
	struct bytes secrets[SECRETS_MAX];
	const struct multi_match *needles;

	for (size_t i = 0; i < SECRETS_MAX; i++) {
		(void)snprintf(texts[i], sizeof(texts[i]), "%zu-%0*d", i, (int)(i * 3 + 4), 7);
		secrets[i] = (struct bytes){ texts[i], strlen(texts[i]) };
	}
	arena_init(&arena, 8 << 20);
	needles = encodings_of(&arena, secrets, SECRETS_MAX);
	CHECK(needles);
	for (size_t i = 0; i < SECRETS_MAX; i++)
		CHECK(has(needles, texts[i]));
	arena_done(&arena);
}

TEST(without_memory_there_are_none)
{
	struct bytes secret = { "hunter2", 7 };

	for (size_t size = 16; size < 8192; size *= 2) {
		arena_init(&arena, size);
		CHECK(!encodings_of(&arena, &secret, 1));
		arena_done(&arena);
	}
}
