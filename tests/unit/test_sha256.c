#include <string.h>

#include <sodium.h>

#include "proto/sha256.h"
#include "tests/check.h"

#define LONGEST 1000

static uint8_t bytes[LONGEST];

static bool is_right(const uint8_t *digest, size_t len)
{
	uint8_t right[32];

	(void)crypto_hash_sha256(right, bytes, len);
	return memcmp(digest, right, sizeof(right)) == 0;
}

static void fill(void)
{
	for (size_t i = 0; i < LONGEST; i++)
		bytes[i] = (uint8_t)(i * 197 + i / 7);
}

TEST(every_length_has_the_digest_that_another_library_finds)
{
	struct sha256 sha;
	uint8_t digest[32];

	if (!sha256_is_there())
		SKIP("this processor has no instructions for it");
	fill();
	for (size_t len = 0; len <= LONGEST; len++) {
		sha256_start(&sha);
		sha256_add(&sha, bytes, len);
		sha256_end(&sha, digest);
		CHECK(is_right(digest, len));
	}
}

TEST(it_does_not_matter_in_which_pieces_the_bytes_come)
{
	struct sha256 sha;
	uint8_t digest[32];

	if (!sha256_is_there())
		SKIP("this processor has no instructions for it");
	fill();
	for (size_t piece = 1; piece < 200; piece++) {
		sha256_start(&sha);
		for (size_t at = 0; at < LONGEST; at += piece)
			sha256_add(&sha, bytes + at, at + piece < LONGEST ? piece : LONGEST - at);
		sha256_end(&sha, digest);
		CHECK(is_right(digest, LONGEST));
	}
}

TEST(the_example_of_the_standard_comes_out)
{
	static const uint8_t hoped[4] = { 0xba, 0x78, 0x16, 0xbf };
	struct sha256 sha;
	uint8_t digest[32];

	if (!sha256_is_there())
		SKIP("this processor has no instructions for it");
	sha256_start(&sha);
	sha256_add(&sha, "abc", 3);
	sha256_end(&sha, digest);
	CHECK(memcmp(digest, hoped, sizeof(hoped)) == 0);
}
