#include <string.h>

#include "proto/sign.h"
#include "tests/check.h"

TEST(what_was_signed_holds_and_what_was_changed_does_not)
{
	uint8_t secret[SIGN_SECRET_LEN], public_key[SIGN_PUBLIC_LEN], signature[SIGN_LEN];
	char words[] = "links=7";

	sign_new_key(secret);
	sign_public(secret, public_key);
	sign_make(secret, words, strlen(words), signature);
	CHECK(sign_holds(public_key, words, strlen(words), signature));
	words[0]++;
	CHECK(!sign_holds(public_key, words, strlen(words), signature));
	words[0]--;
	signature[3] ^= 1;
	CHECK(!sign_holds(public_key, words, strlen(words), signature));
}

TEST(another_key_signs_something_else)
{
	uint8_t secret[SIGN_SECRET_LEN], other[SIGN_SECRET_LEN];
	uint8_t public_key[SIGN_PUBLIC_LEN], signature[SIGN_LEN];

	sign_new_key(secret);
	sign_new_key(other);
	CHECK(memcmp(secret, other, sizeof(secret)) != 0);
	sign_public(other, public_key);
	sign_make(secret, "x", 1, signature);
	CHECK(!sign_holds(public_key, "x", 1, signature));
}

TEST(a_key_is_read_back_from_its_text_and_from_no_other)
{
	static const char *const others[] = { "", "ed25519:", "ed25519:AAAA",
		"sha256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"ed25519:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA!" };
	uint8_t secret[SIGN_SECRET_LEN], public_key[SIGN_PUBLIC_LEN], again[SIGN_PUBLIC_LEN];
	char text[SIGN_KEY_TEXT_LEN + 1];

	sign_new_key(secret);
	sign_public(secret, public_key);
	sign_key_text(public_key, text);
	CHECK_EQ_INT(strlen(text), SIGN_KEY_TEXT_LEN);
	CHECK_EQ_INT(sign_key_from_text(text, again), 0);
	CHECK(memcmp(public_key, again, sizeof(again)) == 0);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		CHECK_EQ_INT(sign_key_from_text(others[i], again), -1);
}

TEST(what_is_forgotten_is_zero)
{
	uint8_t secret[SIGN_SECRET_LEN];

	sign_new_key(secret);
	sign_forget(secret, sizeof(secret));
	for (size_t i = 0; i < sizeof(secret); i++)
		CHECK_EQ_INT(secret[i], 0);
}
