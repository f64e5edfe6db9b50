/*
 * Removes optional keys whose value is nil but whose schema does not allow nil.  Clients send such
 * keys for values that they do not have: JavaScript for `undefined`, other languages for null.
 */
#pragma once

#include "proto/base/arena.h"
#include "proto/value.h"

#define ABSENT_ITEMS_MAX \
	1024 /* longer lists and maps are left unchanged: no contract allows them */

/*
 * Returns `value` without such keys: optional keys with the value nil whose schema has "type" or
 * "enum".  `schema` is the text of the contract.  Returns `value` itself when it has no such key,
 * else a copy in `arena` that shares the other items.  NULL: no memory.
 */
const struct value *absent_left_out(
	struct arena *arena, const struct value *schema, const struct value *value);
