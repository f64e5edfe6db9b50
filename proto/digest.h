/*
 * Fingerprints: SHA-256, in one call or as the bytes come, and its text form "sha256:<64 hex>".
 * Beside them base64, since libsodium (which only digest.c and sign.c know) does that too.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIGEST_LEN      32
#define DIGEST_TEXT_LEN 71 /* "sha256:" and 64 hex digits */

/* A digest being made.  digest_start(), any number of digest_add(), digest_end(). */
struct digest {
	uint64_t state[16];
};

void digest_start(struct digest *digest);
void digest_add(struct digest *digest, const void *bytes, size_t len);
/* Length in eight bytes, then the bytes: so that "ab","c" and "a","bc" differ. */
void digest_add_sized(struct digest *digest, const void *bytes, size_t len);
void digest_add_u64(struct digest *digest, uint64_t number); /* eight bytes, lowest first */
void digest_end(struct digest *digest, uint8_t ret_digest[DIGEST_LEN]);
void digest_end_text(struct digest *digest, char ret_text[DIGEST_TEXT_LEN + 1]);

void digest_of(const void *bytes, size_t len, uint8_t ret_digest[DIGEST_LEN]);
void digest_text_of(const void *bytes, size_t len, char ret_text[DIGEST_TEXT_LEN + 1]);
void digest_text(const uint8_t digest[DIGEST_LEN], char ret_text[DIGEST_TEXT_LEN + 1]);

/* Reads "sha256:<64 lower case hex digits>"; -1 when it is anything else. */
int digest_from_text(const char *text, uint8_t ret_digest[DIGEST_LEN]);

/*
 * A keyed hash in two halves, quick and for the moment only: to compare what is hashed here and now, under a key
 * that nobody else knows.  Not for keeping.
 */
#define DIGEST_QUICK_LEN 16
void digest_quick_key(uint8_t ret_key[DIGEST_QUICK_LEN]);
void digest_quick(
	const uint8_t key[DIGEST_QUICK_LEN], const void *bytes, size_t len, uint64_t ret_halves[2]);

/* Base64 with padding.  base64_size() counts the text and its NUL; base64_write() returns the text's length. */
size_t base64_size(size_t len);
size_t base64_write(const void *bytes, size_t len, char *ret_text);

/* Reads such text back into `room` of `size` bytes; strlen(text) is always enough.  -1: it is none. */
int base64_read(const char *text, void *room, size_t size, size_t *ret_len);
