/*
 * The key that checkpoints are signed with: made at the first start, kept in the state folder as
 * `audit.key`, readable by its owner alone.  Or an administrator keeps it elsewhere.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/base/cleanup.h"
#include "proto/base/err.h"
#include "proto/sign.h"

struct signer;

/* Reads the key, or makes it when there is none (*ret_is_new).  NULL with *err. */
struct signer *signer_open(const char *folder, bool *ret_is_new, struct err *err);

/* Reads the key in this file, and never makes one.  NULL with *err. */
struct signer *signer_open_file(const char *path, struct err *err);
void signer_close(struct signer *signer); /* accepts NULL */
AUTO_DEFINE(struct signer, signer_close);

const uint8_t *signer_public(const struct signer *signer);
void signer_sign(const struct signer *signer, const void *bytes, size_t len,
	uint8_t ret_signature[SIGN_LEN]);
void signer_seal(const struct signer *signer, const void *bytes, size_t len,
	uint8_t ret_seal[SIGN_SEAL_LEN]);
