/*
 * A key that came with nil where nothing but its absence can be meant: JavaScript sends `undefined`
 * so, others their null.
 */
#pragma once

#include "proto/base/arena.h"
#include "proto/value.h"

#define ABSENT_ITEMS_MAX \
	1024 /* longer lists and maps stay as they are: no contract of ours allows them */

/*
 * `value` without such keys: optional ones whose schema names types or words, and so has no place for
 * nil.  `schema` is the text of the contract.  The same value when there are none, else a copy in `arena`
 * that shares what stays; NULL: no memory.
 */
const struct value *absent_left_out(
	struct arena *arena, const struct value *schema, const struct value *value);
