/*
 * msgpack bytes to values and back.
 *
 * A message from outside is looked at twice.  A scanner follows its structure while it arrives:
 * where it ends, how deep it nests, whether it will pass the ceiling.  It needs a fixed amount of
 * memory and starts each time where it stopped.  Then the whole message is decoded into values in
 * an arena, and there every rule about content holds: text is UTF-8, map keys are text and
 * unique, no extension types, no NaN or infinity.  The decoder stands on its own and may be
 * given bytes that were never scanned.
 *
 * Integers become VALUE_INT whenever they fit.  Values are written in their smallest form: the
 * shortest integer, and a real as float32 when nothing is lost by it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/buf.h"
#include "proto/base/err.h"
#include "proto/value.h"

#define WIRE_DEPTH_DEFAULT 32 /* lists and maps inside one another, the message itself included */
#define WIRE_DEPTH_MAX     64 /* what can be asked for, and what is written at most */

/* ---- scanning ----------------------------------------------------------------------------- */

struct wire_scanner {
	size_t size_max;
	unsigned depth_max;
	size_t at;      /* where the next head stands; may lie past what has arrived */
	size_t missing; /* objects still to come, at all levels */
	unsigned depth;
	bool is_too_deep;              /* what the scan refused */
	uint64_t left[WIRE_DEPTH_MAX]; /* objects still to come, at each level */
};

/* Before the first byte of a message.  `depth_max` is at most WIRE_DEPTH_MAX. */
void wire_scanner_init(struct wire_scanner *scanner, size_t size_max, unsigned depth_max);

/*
 * Looks at a message of which `len` bytes have arrived, all of them from its first byte on; what
 * was looked at before is not looked at again.  Returns 1 when it is whole (*ret_len is its
 * length), 0 when more must come, -1 when it is broken: ERR_TOO_BIG as soon as its declared
 * lengths pass size_max, ERR_INVALID when it nests too deep or is not msgpack.
 */
int wire_scan(struct wire_scanner *scanner, const char *bytes, size_t len, size_t *ret_len,
	struct err *err);

/* ---- decoding ----------------------------------------------------------------------------- */

/* Why bytes were refused, in one stable word, and where. */
struct wire_fault {
	const char *reason; /* syntax depth type utf8 duplicate range memory */
	size_t offset;
};

/*
 * Decodes exactly one object that fills all `len` bytes.  Texts and bytes are copied.  Gives a
 * value, or NULL with *err and, unless it is NULL, *ret_fault.
 */
struct value *wire_decode(struct arena *arena, const char *bytes, size_t len,
	struct wire_fault *ret_fault, struct err *err);

/*
 * As wire_decode(), but texts and bytes stay where they are.  Keeps `bytes` as long as the values
 * are used, and changes them: a NUL is put behind each text, the last one at bytes[len], which
 * must be the caller's too.
 */
struct value *wire_decode_in_place(struct arena *arena, char *bytes, size_t len,
	struct wire_fault *ret_fault, struct err *err);

/* ---- encoding ----------------------------------------------------------------------------- */

/*
 * Appends one value.  On failure nothing is appended: ERR_TOO_BIG when the buffer's ceiling or a
 * limit of the format stands in the way, ERR_INVALID for NaN, infinity and too deep nesting.
 */
int wire_encode(struct buf *buf, const struct value *value, struct err *err);

/* Pieces of a message around values.  Each appends, or returns -1 and appends nothing. */
int wire_put_list(struct buf *buf, size_t count);
int wire_put_map(struct buf *buf, size_t count);
int wire_put_uint(struct buf *buf, uint64_t number);
int wire_put_nil(struct buf *buf);
/* As str, or as bin when it is not UTF-8. */
int wire_put_text(struct buf *buf, const char *text);
