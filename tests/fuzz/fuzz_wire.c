/*
 * Any bytes as one message.  A decoded message must encode to something no longer, which decodes
 * to the same value and encodes to the same bytes.  The scanner must agree about where the message
 * ends, and decoding in place must give the same value as decoding with copies.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/wire.h"
#include "tests/fuzz/fuzz.h"
#include "tests/wire_copy.h"

#define ARENA_BYTES_MAX ((size_t)16 << 20)

/* The shortest form is never longer: no head grows and no body changes. */
static void check_round_trip(struct arena *arena, const struct value *value, size_t len)
{
	struct buf first;
	struct buf second;
	const struct value *again;

	buf_init(&first, ARENA_BYTES_MAX);
	buf_init(&second, ARENA_BYTES_MAX);
	assert(wire_encode(&first, value, NULL) == 0);
	assert(first.len <= len);
	again = wire_decode_copy(arena, first.bytes, first.len, NULL, NULL);
	if (again) { /* otherwise the arena is full */
		assert(value_equal(value, again));
		assert(wire_encode(&second, again, NULL) == 0);
		assert(first.len == second.len);
		assert(memcmp(first.bytes, second.bytes, first.len) == 0);
	}
	buf_done(&first);
	buf_done(&second);
}

static void check_in_place(
	struct arena *arena, const struct value *value, const uint8_t *data, size_t len)
{
	char *bytes = malloc(len + 1);
	const struct value *kept;

	assert(bytes);
	if (len > 0)
		memcpy(bytes, data, len);
	kept = wire_decode_in_place(arena, bytes, len, NULL, NULL);
	assert(!kept == !value || arena->failed);
	if (kept && value)
		assert(value_equal(kept, value));
	free(bytes);
}

static void check_scan(const struct value *value, const uint8_t *data, size_t len)
{
	struct wire_scanner scanner;
	size_t whole = 0;
	int scanned;

	wire_scanner_init(&scanner, len, WIRE_DEPTH_MAX);
	scanned = wire_scan(&scanner, (const char *)data, len, &whole, NULL);
	if (value)
		assert(scanned == 1 && whole == len);
	if (scanned == 1)
		assert(whole <= len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct arena arena;
	struct wire_fault fault = { NULL, 0 };
	const struct value *value;

	arena_init(&arena, ARENA_BYTES_MAX);
	value = wire_decode_copy(&arena, (const char *)data, len, &fault, NULL);
	assert(value || (fault.reason && fault.offset <= len));
	check_scan(value, data, len);
	check_in_place(&arena, value, data, len);
	if (value)
		check_round_trip(&arena, value, len);
	arena_done(&arena);
	return 0;
}
