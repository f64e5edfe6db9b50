/*
 * The encodings in which a secret can appear: plain, as in JSON and URLs, in base64 (also inside a
 * longer text), and in hexadecimal digits.
 *
 * A long secret is split into overlapping pieces, so that a part of it is found too.  Other
 * transformations by a program (other encodings, spaces between letters, compression) are not
 * recognised.
 */
#pragma once

#include "daemon/redact/multi_match.h"
#include "proto/base/err.h"
#include "proto/value.h"

#define SECRETS_MAX     64U
#define SECRET_LEN_MIN  4U
#define SECRET_LEN_MAX  4096U
#define SECRETS_LEN_MAX ((size_t)16 << 10) /* all together */

/* Returns the texts to search for; the mark of each is 0.  NULL: no memory. */
struct multi_match *encodings_of(struct arena *arena, const struct bytes *secrets, size_t count);
