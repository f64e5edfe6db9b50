/*
 * References between schemas: URI references (RFC 3986), used only as names.  They are resolved and
 * compared, never fetched.
 */
#pragma once

#include "proto/base/arena.h"

/*
 * Resolves `reference` against `base`, the URI of the document that contains it, and removes the
 * fragment.  `base` may be "".  NULL when the arena is full.
 */
const char *uri_resolve(struct arena *arena, const char *base, const char *reference);

/*
 * Returns the fragment after the '#', with %XX decoded; "" when there is none.  NULL: arena full.
 */
const char *uri_fragment(struct arena *arena, const char *reference);
