/*
 * References between schemas: URI references (RFC 3986) as names.  They are resolved and compared,
 * never fetched.
 */
#pragma once

#include "proto/base/arena.h"

/*
 * What `reference` means where `base` is the name of what it stands in, without its fragment.
 * Both are texts without NUL; `base` may be "".  NULL when the arena is full.
 */
const char *uri_resolve(struct arena *arena, const char *base, const char *reference);

/* What stands behind the '#', with %XX undone; "" when nothing does.  NULL: arena full. */
const char *uri_fragment(struct arena *arena, const char *reference);
