/* Decodes bytes that must not change: a copy of them is decoded in place. */
#pragma once

#include "proto/wire/wire.h"

static inline struct value *wire_decode_copy(struct arena *arena, const char *bytes, size_t len,
	struct wire_fault *ret_fault, struct err *err)
{
	char *copy = arena_copy(arena, bytes, len);

	return copy ? wire_decode_in_place(arena, copy, len, ret_fault, err) : NULL;
}
