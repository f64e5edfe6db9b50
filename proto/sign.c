#include "proto/sign.h"

#include <string.h>

#include <sodium.h>

#include "proto/digest.h"

#define KEY_PREFIX     "ed25519:"
#define KEY_PREFIX_LEN 8
#define SEAL_WORDS     "ced seal 1"

_Static_assert(SIGN_PUBLIC_LEN == crypto_sign_PUBLICKEYBYTES, "of Ed25519");
_Static_assert(SIGN_SECRET_LEN == crypto_sign_SECRETKEYBYTES, "of Ed25519");
_Static_assert(SIGN_LEN == crypto_sign_BYTES, "of Ed25519");

void sign_new_key(uint8_t ret_secret[SIGN_SECRET_LEN])
{
	uint8_t public_key[SIGN_PUBLIC_LEN];

	digest_prepare();
	(void)crypto_sign_keypair(public_key, ret_secret);
}

void sign_public(const uint8_t secret[SIGN_SECRET_LEN], uint8_t ret_public[SIGN_PUBLIC_LEN])
{
	(void)crypto_sign_ed25519_sk_to_pk(ret_public, secret);
}

void sign_make(const uint8_t secret[SIGN_SECRET_LEN], const void *bytes, size_t len,
	uint8_t ret_signature[SIGN_LEN])
{
	digest_prepare();
	(void)crypto_sign_detached(ret_signature, NULL, bytes, len, secret);
}

bool sign_holds(const uint8_t public_key[SIGN_PUBLIC_LEN], const void *bytes, size_t len,
	const uint8_t signature[SIGN_LEN])
{
	digest_prepare();
	return crypto_sign_verify_detached(signature, bytes, len, public_key) == 0;
}

/* The secret itself only makes signatures.  The seal uses a key that is derived from it. */
void sign_seal(const uint8_t secret[SIGN_SECRET_LEN], const void *bytes, size_t len,
	uint8_t ret_seal[SIGN_SEAL_LEN])
{
	uint8_t key[crypto_generichash_KEYBYTES];

	digest_prepare();
	(void)crypto_generichash(key, sizeof(key), (const uint8_t *)SEAL_WORDS, strlen(SEAL_WORDS),
		secret, crypto_sign_SEEDBYTES);
	(void)crypto_generichash(ret_seal, SIGN_SEAL_LEN, bytes, len, key, sizeof(key));
	sodium_memzero(key, sizeof(key));
}

void sign_forget(void *bytes, size_t len)
{
	sodium_memzero(bytes, len);
}

void sign_key_text(const uint8_t public_key[SIGN_PUBLIC_LEN], char ret_text[SIGN_KEY_TEXT_LEN + 1])
{
	memcpy(ret_text, KEY_PREFIX, sizeof(KEY_PREFIX));
	(void)base64_write(public_key, SIGN_PUBLIC_LEN, ret_text + KEY_PREFIX_LEN);
}

int sign_key_from_text(const char *text, uint8_t ret_public[SIGN_PUBLIC_LEN])
{
	uint8_t bytes[SIGN_PUBLIC_LEN];
	size_t len = 0;

	if (strlen(text) != SIGN_KEY_TEXT_LEN || strncmp(text, KEY_PREFIX, KEY_PREFIX_LEN) != 0)
		return -1;
	if (base64_read(text + KEY_PREFIX_LEN, bytes, sizeof(bytes), &len) < 0 ||
		len != sizeof(bytes))
		return -1;
	memcpy(ret_public, bytes, sizeof(bytes));
	return 0;
}
