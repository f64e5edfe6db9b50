/*
 * Signatures with Ed25519, and the text form of a public key: "ed25519:<base64>".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIGN_PUBLIC_LEN   32
#define SIGN_SECRET_LEN   64
#define SIGN_LEN          64
#define SIGN_SEAL_LEN     32
#define SIGN_TEXT_LEN     88 /* a signature in base64 */
#define SIGN_KEY_TEXT_LEN 52 /* "ed25519:" and 44 characters */

/* Makes a new key pair. */
void sign_new_key(uint8_t ret_secret[SIGN_SECRET_LEN]);

/* Computes the public key of a secret. */
void sign_public(const uint8_t secret[SIGN_SECRET_LEN], uint8_t ret_public[SIGN_PUBLIC_LEN]);

void sign_make(const uint8_t secret[SIGN_SECRET_LEN], const void *bytes, size_t len,
	uint8_t ret_signature[SIGN_LEN]);
bool sign_holds(const uint8_t public_key[SIGN_PUBLIC_LEN], const void *bytes, size_t len,
	const uint8_t signature[SIGN_LEN]);

/*
 * Makes a digest that only the secret's owner can make and check.  It takes a fiftieth of the time
 * of a signature.
 */
void sign_seal(const uint8_t secret[SIGN_SECRET_LEN], const void *bytes, size_t len,
	uint8_t ret_seal[SIGN_SEAL_LEN]);

/* Overwrites secret bytes.  The compiler cannot remove this write. */
void sign_forget(void *bytes, size_t len);

void sign_key_text(const uint8_t public_key[SIGN_PUBLIC_LEN], char ret_text[SIGN_KEY_TEXT_LEN + 1]);
/* -1: the text is not a key. */
int sign_key_from_text(const char *text, uint8_t ret_public[SIGN_PUBLIC_LEN]);
