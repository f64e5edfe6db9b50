/*
 * Digests: SHA-256, in one call or piece by piece, and its text form "sha256:<64 hex>".  Base64 is
 * here as well, because libsodium provides it.  Only digest.c and sign.c use libsodium.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIGEST_LEN      32
#define DIGEST_TEXT_LEN 71 /* "sha256:" and 64 hex digits */

/* A digest in progress: digest_start(), any number of digest_add(), digest_end(). */
struct digest {
	uint64_t state[16];
};

/* Starts libsodium, once.  Functions that need it call this themselves. */
void digest_prepare(void);

void digest_start(struct digest *digest);
void digest_add(struct digest *digest, const void *bytes, size_t len);
/* Adds the length in eight bytes, then the bytes, so that "ab","c" and "a","bc" differ. */
void digest_add_sized(struct digest *digest, const void *bytes, size_t len);
void digest_add_u64(struct digest *digest, uint64_t number); /* eight bytes, lowest first */
void digest_end(struct digest *digest, uint8_t ret_digest[DIGEST_LEN]);
void digest_end_text(struct digest *digest, char ret_text[DIGEST_TEXT_LEN + 1]);

void digest_of(const void *bytes, size_t len, uint8_t ret_digest[DIGEST_LEN]);
void digest_text_of(const void *bytes, size_t len, char ret_text[DIGEST_TEXT_LEN + 1]);
void digest_text(const uint8_t digest[DIGEST_LEN], char ret_text[DIGEST_TEXT_LEN + 1]);

/* Reads "sha256:<64 lower case hex digits>".  -1 for any other text. */
int digest_from_text(const char *text, uint8_t ret_digest[DIGEST_LEN]);

/*
 * A fast keyed hash of 128 bits, in two halves.  It compares contents within one process, under a
 * secret key that the process draws.  Do not store it.
 */
#define DIGEST_QUICK_LEN 16
void digest_quick_key(uint8_t ret_key[DIGEST_QUICK_LEN]);
void digest_quick(
	const uint8_t key[DIGEST_QUICK_LEN], const void *bytes, size_t len, uint64_t ret_halves[2]);

/*
 * Base64 with padding.  base64_size() counts the text and its NUL.  base64_write() returns the
 * length of the text without the NUL.
 */
size_t base64_size(size_t len);
size_t base64_write(const void *bytes, size_t len, char *ret_text);

/*
 * Decodes base64 text into `room` of `size` bytes; strlen(text) bytes are always enough.  -1: it is
 * not base64, or `room` is too small.
 */
int base64_read(const char *text, void *room, size_t size, size_t *ret_len);
