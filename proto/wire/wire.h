/*
 * Converts msgpack bytes to values and values to msgpack bytes.
 *
 * A message from outside is read twice.  While it arrives, a scanner follows its structure: where
 * it ends, how deep it nests, whether it will pass the ceiling.  The scanner needs a fixed amount
 * of memory and continues each time where it stopped.  Then the decoder turns the whole message
 * into values in an arena.  It enforces the rules about content: text is UTF-8, map keys are text
 * and unique, no extension types, no NaN or infinity.  The decoder does not rely on the scanner and
 * may get bytes that were never scanned.
 *
 * Integers become VALUE_INT whenever they fit.  The encoder writes each value in its smallest form:
 * the shortest integer, and a real as float32 when that is exact.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/buf.h"
#include "proto/base/err.h"
#include "proto/value.h"

#define WIRE_DEPTH_DEFAULT 32 /* lists and maps inside one another, the message itself included */
/* the largest depth_max, and the deepest nesting that the encoder writes */
#define WIRE_DEPTH_MAX     64

/* the longest message whose end is looked for when it is refused */
#define WIRE_SKIP_MAX ((size_t)1 << 30)

/* ---- scanning ----------------------------------------------------------------------------- */

struct wire_scanner {
	size_t size_max;
	unsigned depth_max;
	size_t at;      /* offset of the next head; may be past the bytes that have arrived */
	size_t missing; /* objects still expected, at all levels */
	unsigned depth;
	bool is_too_deep;              /* the nesting: why the scan failed */
	bool skips;                    /* of the owner: see wire_scan() */
	uint64_t left[WIRE_DEPTH_MAX]; /* objects still expected, at each level */
};

/* Prepares for the first byte of a message.  `depth_max` is at most WIRE_DEPTH_MAX. */
void wire_scanner_init(struct wire_scanner *scanner, size_t size_max, unsigned depth_max);

/*
 * Scans a message of which the first `len` bytes have arrived.  It does not read again the heads
 * that it has scanned before.  Returns 1 when the message is whole (*ret_len is its length), 0 when
 * bytes are missing, -1 when it is invalid.  ERR_TOO_BIG: its declared lengths pass size_max.
 * ERR_INVALID: it nests too deep or is not msgpack.
 *
 * An owner that refuses a message, but wants to know where it ends, sets `skips` and goes on.  Then
 * neither ceiling holds, and WIRE_SKIP_MAX does.
 */
int wire_scan(struct wire_scanner *scanner, const char *bytes, size_t len, size_t *ret_len,
	struct err *err);

/* After -1: whether the message is one that is too big or too deep and whose end can be found. */
bool wire_scan_may_skip(const struct wire_scanner *scanner);

/* ---- decoding ----------------------------------------------------------------------------- */

/* Why the decoder rejected the bytes, as one stable word, and where. */
struct wire_fault {
	const char *reason; /* syntax depth type utf8 duplicate range memory */
	size_t offset;
};

/*
 * Decodes exactly one object that fills all `len` bytes.  Returns a value, or NULL with *err and
 * *ret_fault.  ret_fault may be NULL.
 *
 * Values point to texts and bytes inside `bytes`, which must live as long as the values.  The
 * decoder writes a NUL after each text, the last one possibly at bytes[len].  So the caller must
 * own that byte, too.
 */
struct value *wire_decode_in_place(struct arena *arena, char *bytes, size_t len,
	struct wire_fault *ret_fault, struct err *err);

/* ---- encoding ----------------------------------------------------------------------------- */

/*
 * Appends one value, or appends nothing and fails.  ERR_TOO_BIG: the value passes the buffer's
 * ceiling or a limit of the format.  ERR_INVALID: NaN, infinity or too deep nesting.
 */
int wire_encode(struct buf *buf, const struct value *value, struct err *err);

/* Parts of a message around values.  Each function appends, or appends nothing and returns -1. */
int wire_put_list(struct buf *buf, size_t count);
int wire_put_map(struct buf *buf, size_t count);
int wire_put_uint(struct buf *buf, uint64_t number);
int wire_put_nil(struct buf *buf);
/* As str, or as bin when it is not UTF-8. */
int wire_put_text(struct buf *buf, const char *text);
