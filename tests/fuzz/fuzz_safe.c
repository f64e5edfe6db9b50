/*
 * Any bytes: their safe form has no control characters, is UTF-8, and does not depend on how the
 * bytes are cut.
 */

#include <stdlib.h>
#include <string.h>

#include "cli/base/safe.h"
#include "proto/base/utf8.h"
#include "tests/fuzz/fuzz.h"

#define SAFE_MAX (64U << 20)

static void check_harmless(const struct buf *buf)
{
	if (!utf8_is_valid(buf->bytes ? buf->bytes : "", buf->len))
		abort();
	for (size_t at = 0; at < buf->len;) {
		int32_t point = utf8_next(buf->bytes, buf->len, &at);

		if (point == '\n' || point == '\t')
			continue;
		if (point < 0x20 || (point >= 0x7f && point <= 0x9f) || point == 0x202e)
			abort();
	}
	(void)safe_fit(buf->bytes, buf->len, safe_columns(buf->bytes, buf->len) / 2);
}

/* The first byte gives the length of the pieces. */
static void check_pieces(const struct buf *whole, const char *bytes, size_t len, size_t piece)
{
	struct safe_stream stream = { .held_len = 0 };
	struct buf buf;

	buf_init(&buf, SAFE_MAX);
	for (size_t at = 0; at < len; at += piece)
		(void)safe_feed(&stream, &buf, bytes + at, len - at < piece ? len - at : piece);
	(void)safe_flush(&stream, &buf);
	if (buf.len != whole->len || (buf.len > 0 && memcmp(buf.bytes, whole->bytes, buf.len) != 0))
		abort();
	buf_done(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *bytes = (const char *)data;
	struct buf whole;

	if (len == 0)
		return 0;
	buf_init(&whole, SAFE_MAX);
	if (safe_append(&whole, SAFE_BLOCK, bytes + 1, len - 1) == 0) {
		check_harmless(&whole);
		check_pieces(&whole, bytes + 1, len - 1, (size_t)data[0] + 1);
	}
	buf_done(&whole);
	return 0;
}
