/*
 * The forms in which a secret that a caller named can turn up: as it is, as JSON and URLs have it,
 * in base64 (also as a part of something longer), in hexadecimal digits.
 *
 * A long secret is looked for in pieces that overlap, so that a part of it is found as well as the
 * whole, and a cut hides little.  What a program makes of a secret beyond that (other encodings,
 * letters apart, compressed) is not recognised.
 */
#pragma once

#include "daemon/redact/multi_match.h"
#include "proto/base/err.h"
#include "proto/value.h"

#define SECRETS_MAX     64U
#define SECRET_LEN_MIN  4U
#define SECRET_LEN_MAX  4096U
#define SECRETS_LEN_MAX ((size_t)16 << 10) /* all together */

/* Texts to look for; the mark of each is 0.  NULL: no memory. */
struct multi_match *encodings_of(struct arena *arena, const struct bytes *secrets, size_t count);
