#include "proto/digest.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#define DIGEST_PREFIX     "sha256:"
#define DIGEST_PREFIX_LEN 7

_Static_assert(DIGEST_LEN == crypto_hash_sha256_BYTES, "SHA-256 has 32 bytes");
_Static_assert(DIGEST_QUICK_LEN == crypto_shorthash_siphashx24_KEYBYTES &&
		       2 * sizeof(uint64_t) == crypto_shorthash_siphashx24_BYTES,
	"of SipHash");
_Static_assert(sizeof(struct digest) >= sizeof(crypto_hash_sha256_state), "the state has room");

static void setup(void)
{
	if (sodium_init() < 0)
		abort(); /* libsodium has no source of randomness: end the process */
}

void digest_prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, setup);
}

/* cppcheck-suppress ctuuninitvar; digest_start() fills it through this pointer */
static crypto_hash_sha256_state *state_of(struct digest *digest)
{
	return (crypto_hash_sha256_state *)(void *)digest->state;
}

void digest_start(struct digest *digest)
{
	digest_prepare();
	(void)crypto_hash_sha256_init(state_of(digest));
}

void digest_add(struct digest *digest, const void *bytes, size_t len)
{
	if (len)
		(void)crypto_hash_sha256_update(state_of(digest), bytes, len);
}

void digest_add_u64(struct digest *digest, uint64_t number)
{
	uint8_t bytes[8];

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(number >> (8 * i));
	digest_add(digest, bytes, sizeof(bytes));
}

void digest_add_sized(struct digest *digest, const void *bytes, size_t len)
{
	digest_add_u64(digest, len);
	digest_add(digest, bytes, len);
}

void digest_end(struct digest *digest, uint8_t ret_digest[DIGEST_LEN])
{
	(void)crypto_hash_sha256_final(state_of(digest), ret_digest);
}

void digest_end_text(struct digest *digest, char ret_text[DIGEST_TEXT_LEN + 1])
{
	uint8_t bytes[DIGEST_LEN];

	digest_end(digest, bytes);
	digest_text(bytes, ret_text);
}

void digest_of(const void *bytes, size_t len, uint8_t ret_digest[DIGEST_LEN])
{
	struct digest digest;

	digest_start(&digest);
	digest_add(&digest, bytes, len);
	digest_end(&digest, ret_digest);
}

void digest_text_of(const void *bytes, size_t len, char ret_text[DIGEST_TEXT_LEN + 1])
{
	uint8_t digest[DIGEST_LEN];

	digest_of(bytes, len, digest);
	digest_text(digest, ret_text);
}

void digest_text(const uint8_t digest[DIGEST_LEN], char ret_text[DIGEST_TEXT_LEN + 1])
{
	memcpy(ret_text, DIGEST_PREFIX, sizeof(DIGEST_PREFIX));
	(void)sodium_bin2hex(ret_text + DIGEST_PREFIX_LEN, 2 * DIGEST_LEN + 1, digest, DIGEST_LEN);
}

int digest_from_text(const char *text, uint8_t ret_digest[DIGEST_LEN])
{
	uint8_t digest[DIGEST_LEN];
	size_t len = 0;

	if (strlen(text) != DIGEST_TEXT_LEN || strncmp(text, DIGEST_PREFIX, DIGEST_PREFIX_LEN) != 0)
		return -1;
	if (strspn(text + DIGEST_PREFIX_LEN, "0123456789abcdef") != 2 * (size_t)DIGEST_LEN)
		return -1;
	if (sodium_hex2bin(digest, sizeof(digest), text + DIGEST_PREFIX_LEN, 2 * (size_t)DIGEST_LEN,
		    NULL, &len, NULL) < 0 ||
		len != DIGEST_LEN)
		return -1;
	memcpy(ret_digest, digest, DIGEST_LEN);
	return 0;
}

void digest_quick_key(uint8_t ret_key[DIGEST_QUICK_LEN])
{
	digest_prepare();
	randombytes_buf(ret_key, DIGEST_QUICK_LEN);
}

void digest_quick(
	const uint8_t key[DIGEST_QUICK_LEN], const void *bytes, size_t len, uint64_t ret_halves[2])
{
	uint8_t hash[crypto_shorthash_siphashx24_BYTES];

	(void)crypto_shorthash_siphashx24(hash, bytes, len, key);
	memcpy(ret_halves, hash, sizeof(hash));
}

size_t base64_size(size_t len)
{
	return sodium_base64_ENCODED_LEN(len, sodium_base64_VARIANT_ORIGINAL);
}

size_t base64_write(const void *bytes, size_t len, char *ret_text)
{
	size_t size = base64_size(len);

	(void)sodium_bin2base64(ret_text, size, bytes, len, sodium_base64_VARIANT_ORIGINAL);
	return size - 1;
}

int base64_read(const char *text, void *room, size_t size, size_t *ret_len)
{
	return sodium_base642bin(room, size, text, strlen(text), NULL, ret_len, NULL,
		sodium_base64_VARIANT_ORIGINAL);
}
