/*
 * SHA-256 with the processor's own instructions, where it has them: a fifth of the time that the
 * portable code takes, on a path where somebody waits.  digest.c asks, and is what others use.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHA256_BLOCK 64

struct sha256 {
	uint32_t state[8];
	uint64_t len;
	uint8_t block[SHA256_BLOCK]; /* what has come of the next one */
};

/* Whether this processor has the instructions; nothing else here may be called when not. */
bool sha256_is_there(void);

void sha256_start(struct sha256 *sha);
void sha256_add(struct sha256 *sha, const void *bytes, size_t len);
void sha256_end(struct sha256 *sha, uint8_t ret_digest[32]);
