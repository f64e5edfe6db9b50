#include <stdlib.h>
#include <string.h>

#include "proto/base/cleanup.h"
#include "proto/base/utf8.h"
#include "tests/check.h"

/* Encodes a code point as the definition says, including surrogates. */
static size_t encode(uint32_t point, char *bytes)
{
	if (point < 0x80) {
		bytes[0] = (char)point;
		return 1;
	}
	if (point < 0x800) {
		bytes[0] = (char)(0xc0 | point >> 6);
		bytes[1] = (char)(0x80 | (point & 0x3f));
		return 2;
	}
	if (point < 0x10000) {
		bytes[0] = (char)(0xe0 | point >> 12);
		bytes[1] = (char)(0x80 | (point >> 6 & 0x3f));
		bytes[2] = (char)(0x80 | (point & 0x3f));
		return 3;
	}
	bytes[0] = (char)(0xf0 | point >> 18);
	bytes[1] = (char)(0x80 | (point >> 12 & 0x3f));
	bytes[2] = (char)(0x80 | (point >> 6 & 0x3f));
	bytes[3] = (char)(0x80 | (point & 0x3f));
	return 4;
}

TEST(every_code_point_is_text_except_surrogates_and_what_lies_past_the_last)
{
	char bytes[4];

	for (uint32_t point = 0; point < 0x140000; point++) {
		size_t len = encode(point, bytes);
		bool surrogate = point >= 0xd800 && point <= 0xdfff;
		bool valid = point <= 0x10ffff && !surrogate;
		size_t at = 0;

		if (utf8_is_valid(bytes, len) != valid)
			CHECK_EQ_INT(point, -1);
		if (utf8_next(bytes, len, &at) != (valid ? (int32_t)point : -1))
			CHECK_EQ_INT(point, -2);
		if (at != (valid ? len : 1))
			CHECK_EQ_INT(point, -3);
	}
}

/* An independent, bit-by-bit form of the rule, to compare all pairs and triples with. */
static bool is_valid_slowly(const unsigned char *bytes, size_t len)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t at = 0;

	while (at < len) {
		size_t need = bytes[at] < 0x80 ? 1 : 0;
		uint32_t point = bytes[at];

		for (size_t n = 2; n <= 4; n++)
			if ((uint32_t)bytes[at] >> (7 - n) == (1U << (n + 1)) - 2)
				need = n;
		if (need == 0 || at + need > len)
			return false;
		if (need > 1)
			point &= 0x7fU >> need;
		for (size_t i = 1; i < need; i++) {
			if ((bytes[at + i] & 0xc0) != 0x80)
				return false;
			point = point << 6 | (bytes[at + i] & 0x3f);
		}
		if (point < least[need] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
			return false;
		at += need;
	}
	return true;
}

TEST(all_triples_of_bytes_are_judged_as_the_definition_does)
{
	unsigned char bytes[3];

	for (uint32_t all = 0; all < 1U << 24; all++) {
		bytes[0] = (unsigned char)(all >> 16);
		bytes[1] = (unsigned char)(all >> 8);
		bytes[2] = (unsigned char)all;
		if (utf8_is_valid((char *)bytes, 3) != is_valid_slowly(bytes, 3))
			CHECK_EQ_INT(all, -1);
	}
}

TEST(all_quads_around_the_borders_are_judged_as_the_definition_does)
{
	static const unsigned char edges[] = { 0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf,
		0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4,
		0xf5, 0xf8, 0xfe, 0xff };
	unsigned char bytes[4];

	for (uint32_t all = 0; all < 27 * 27 * 27 * 27; all++) {
		bytes[0] = edges[all % 27];
		bytes[1] = edges[all / 27 % 27];
		bytes[2] = edges[all / (27 * 27) % 27];
		bytes[3] = edges[all / (27 * 27 * 27)];
		if (utf8_is_valid((char *)bytes, 4) != is_valid_slowly(bytes, 4))
			CHECK_EQ_INT(all, -1);
	}
}

TEST(one_bad_byte_is_found_anywhere_in_a_long_text)
{
	char text[201];

	memset(text, 'a', sizeof(text));
	CHECK(utf8_is_valid(text, sizeof(text)));
	for (size_t i = 0; i < sizeof(text); i++) {
		text[i] = (char)0xff;
		CHECK(!utf8_is_valid(text, sizeof(text)));
		text[i] = (char)0xc3;
		CHECK(!utf8_is_valid(text, sizeof(text)));
		text[i] = 'a';
	}
	for (size_t i = 0; i + 1 < sizeof(text); i++) {
		memcpy(text + i, "é", 2);
		CHECK(utf8_is_valid(text, sizeof(text)));
		memcpy(text + i, "aa", 2);
	}
}

TEST(nothing_is_text)
{
	CHECK(utf8_is_valid("", 0));
	CHECK_EQ_INT(utf8_whole_prefix("", 0), 0);
	CHECK_EQ_INT(utf8_skip_partial("", 0), 0);
	CHECK_EQ_INT(utf8_count("", 0), 0);
}

TEST(a_cut_text_keeps_its_whole_characters)
{
	static const char text[] = "aé€𝄞b";
	static const size_t whole[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11 };

	for (size_t len = 0; len < sizeof(text); len++) {
		CHECK_EQ_INT(utf8_whole_prefix(text, len), whole[len]);
		CHECK(utf8_is_valid(text, utf8_whole_prefix(text, len)));
	}
}

TEST(what_is_not_text_is_not_shortened)
{
	CHECK_EQ_INT(utf8_whole_prefix("\x80\x80\x80\x80", 4), 4);
	CHECK_EQ_INT(utf8_whole_prefix("a\xff", 2), 2);
	CHECK_EQ_INT(utf8_whole_prefix("\x80", 1), 1);
	CHECK_EQ_INT(utf8_whole_prefix("a\xe0\x80", 3), 3);
}

TEST(the_rest_of_a_character_begun_before_is_skipped)
{
	CHECK_EQ_INT(utf8_skip_partial("\xa9z", 2), 1);
	CHECK_EQ_INT(utf8_skip_partial("\x82\xacz", 3), 2);
	CHECK_EQ_INT(utf8_skip_partial("\x9d\x84\x9ez", 4), 3);
	CHECK_EQ_INT(utf8_skip_partial("\x9d\x84\x9e\x9e", 4), 3);
	CHECK_EQ_INT(utf8_skip_partial("é", 2), 0);
}

TEST(characters_are_counted_and_walked)
{
	static const char text[] = "aé€𝄞\xff!";
	static const int32_t points[] = { 'a', 0xe9, 0x20ac, 0x1d11e, -1, '!' };
	size_t at = 0;

	CHECK_EQ_INT(utf8_count("aé€𝄞", 10), 4);
	for (size_t i = 0; i < 6; i++)
		CHECK_EQ_INT(utf8_next(text, sizeof(text) - 1, &at), points[i]);
	CHECK_EQ_INT(at, sizeof(text) - 1);
	CHECK_EQ_INT(utf8_next(text, sizeof(text) - 1, &at), -1);
	CHECK_EQ_INT(at, sizeof(text) - 1);
}
