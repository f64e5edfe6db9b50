#include <string.h>

#include "proto/digest.h"
#include "tests/check.h"

#define ABC "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

TEST(a_digest_is_sha_256)
{
	char text[DIGEST_TEXT_LEN + 1];

	digest_text_of("abc", 3, text);
	CHECK_STR(text, ABC);
	digest_text_of("", 0, text);
	CHECK_STR(text, "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	digest_text_of(NULL, 0, text);
	CHECK_STR(text, "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(bytes_may_come_in_parts)
{
	char text[DIGEST_TEXT_LEN + 1];
	struct digest digest;

	digest_start(&digest);
	digest_add(&digest, "a", 1);
	digest_add(&digest, NULL, 0);
	digest_add(&digest, "bc", 2);
	digest_end_text(&digest, text);
	CHECK_STR(text, ABC);
}

TEST(sized_parts_cannot_be_moved_from_one_to_the_next)
{
	char first[DIGEST_TEXT_LEN + 1], second[DIGEST_TEXT_LEN + 1];
	struct digest digest;

	digest_start(&digest);
	digest_add_sized(&digest, "ab", 2);
	digest_add_sized(&digest, "c", 1);
	digest_end_text(&digest, first);
	digest_start(&digest);
	digest_add_sized(&digest, "a", 1);
	digest_add_sized(&digest, "bc", 2);
	digest_end_text(&digest, second);
	CHECK(strcmp(first, second) != 0);
}

TEST(a_number_is_eight_bytes_with_the_lowest_first)
{
	static const uint8_t bytes[] = { 8, 7, 6, 5, 4, 3, 2, 1 };
	char first[DIGEST_TEXT_LEN + 1], second[DIGEST_TEXT_LEN + 1];
	struct digest digest;

	digest_start(&digest);
	digest_add_u64(&digest, 0x0102030405060708U);
	digest_end_text(&digest, first);
	digest_text_of(bytes, sizeof(bytes), second);
	CHECK_STR(first, second);
}

TEST(a_text_reads_back_as_its_digest)
{
	uint8_t bytes[DIGEST_LEN], again[DIGEST_LEN];

	digest_of("abc", 3, bytes);
	CHECK_EQ_INT(digest_from_text(ABC, again), 0);
	CHECK(memcmp(bytes, again, DIGEST_LEN) == 0);
}

TEST(other_texts_are_no_digests)
{
	uint8_t bytes[DIGEST_LEN] = { 7 };

	CHECK_EQ_INT(digest_from_text("", bytes), -1);
	CHECK_EQ_INT(digest_from_text(ABC "0", bytes), -1);
	CHECK_EQ_INT(digest_from_text("sha512" ABC, bytes), -1);
	CHECK_EQ_INT(
		digest_from_text(
			"sha256:BA7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
			bytes),
		-1);
	CHECK_EQ_INT(
		digest_from_text(
			"sha256:ba7816bf 8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015a",
			bytes),
		-1);
	CHECK_EQ_INT(bytes[0], 7);
}

TEST(a_quick_hash_is_of_its_key_and_every_byte)
{
	uint8_t keys[2][DIGEST_QUICK_LEN];
	uint64_t one[2], other[2];

	digest_quick_key(keys[0]);
	digest_quick_key(keys[1]);
	CHECK(memcmp(keys[0], keys[1], DIGEST_QUICK_LEN) != 0);
	digest_quick(keys[0], "abc", 3, one);
	digest_quick(keys[0], "abc", 3, other);
	CHECK(memcmp(one, other, sizeof(one)) == 0);
	digest_quick(keys[0], "abd", 3, other);
	CHECK(one[0] != other[0] && one[1] != other[1]);
	digest_quick(keys[1], "abc", 3, other);
	CHECK(one[0] != other[0] && one[1] != other[1]);
	/* From the test vectors of SipHash's authors: key 00 01 ... 0f, empty input. */
	for (uint8_t i = 0; i < DIGEST_QUICK_LEN; i++)
		keys[0][i] = i;
	digest_quick(keys[0], "", 0, one);
	CHECK_EQ_INT((int64_t)one[0], (int64_t)UINT64_C(0xe6a825ba047f81a3));
}

TEST(base64_has_padding)
{
	char text[16];

	CHECK_EQ_INT(base64_size(3), 5);
	CHECK_EQ_INT(base64_write("", 0, text), 0);
	CHECK_STR(text, "");
	CHECK_EQ_INT(base64_write("\xff\xee", 2, text), 4);
	CHECK_STR(text, "/+4=");
	CHECK_EQ_INT(base64_write("abcdef", 6, text), 8);
	CHECK_STR(text, "YWJjZGVm");
}
