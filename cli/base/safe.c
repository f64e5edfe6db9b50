#include "cli/base/safe.h"

#include <string.h>
#include <wchar.h>

#include "proto/base/container.h"
#include "proto/base/utf8.h"

/* Characters that draw nothing and change how others are drawn, or hide text from people. */
static const struct {
	int32_t first, last;
} unseen[] = {
	{ 0x0000, 0x001f }, /* C0 */
	{ 0x007f, 0x009f }, /* DEL and C1 */
	{ 0x00ad, 0x00ad }, /* soft hyphen */
	{ 0x034f, 0x034f }, /* combining grapheme joiner */
	{ 0x061c, 0x061c }, /* arabic letter mark */
	{ 0x115f, 0x1160 }, /* hangul fillers: letters that draw nothing */
	{ 0x17b4, 0x17b5 }, /* khmer vowels that draw nothing */
	{ 0x180b, 0x180f }, /* mongolian selectors and vowel separator */
	{ 0x200b, 0x200b }, /* zero width space; the joiners next to it are part of real words */
	{ 0x200e, 0x200f }, /* left-to-right and right-to-left marks */
	{ 0x2028, 0x202e }, /* line and paragraph separators, embeddings and overrides */
	{ 0x2060, 0x206f }, /* word joiner, isolates, deprecated format characters */
	{ 0x2800, 0x2800 }, /* braille without a dot */
	{ 0x3164, 0x3164 }, /* hangul filler */
	{ 0xfe00, 0xfe0e }, /* variation selectors, but U+FE0F, which pictures in real texts have */
	{ 0xfeff, 0xfeff }, /* byte order mark */
	{ 0xffa0, 0xffa0 }, /* halfwidth hangul filler */
	{ 0xfff0, 0xfffb }, /* unassigned, and interlinear annotation */
	{ 0x1bca0, 0x1bca3 }, /* shorthand format controls */
	{ 0x1d173, 0x1d17a }, /* musical format controls */
	{ 0xe0000, 0xe0fff }, /* tags and selectors: text that only machines see */
};

static bool is_unseen(int32_t point)
{
	if (point >= 0x20 && point < 0x7f)
		return false;
	for (size_t i = 0; i < COUNT_OF(unseen); i++) {
		if (point >= unseen[i].first && point <= unseen[i].last)
			return true;
	}
	return false;
}

static int escape(struct buf *out, int32_t point)
{
	if (point == '\n')
		return buf_append_text(out, "\\n");
	if (point == '\t')
		return buf_append_text(out, "\\t");
	if (point == '\r')
		return buf_append_text(out, "\\r");
	return buf_printf(out, point < 0x80 ? "\\x%02x" : "\\u{%x}", (unsigned)point);
}

int safe_append(struct buf *out, enum safe_form form, const char *bytes, size_t len)
{
	size_t at = 0;

	while (at < len) {
		size_t start = at;
		int32_t point = utf8_next(bytes, len, &at);
		bool passes = form == SAFE_BLOCK && (point == '\n' || point == '\t');
		int status;

		if (point < 0)
			status = buf_printf(out, "\\x%02x", (unsigned)(uint8_t)bytes[start]);
		else if (!passes && is_unseen(point))
			status = escape(out, point);
		else
			status = buf_append(out, bytes + start, at - start);
		if (status < 0)
			return -1;
	}
	return 0;
}

/* How many bytes the character that begins with `byte` has; 1 when none begins with it. */
static size_t sequence_len(uint8_t byte)
{
	if (byte >= 0xf0 && byte <= 0xf4)
		return 4;
	if (byte >= 0xe0 && byte <= 0xef)
		return 3;
	if (byte >= 0xc2 && byte <= 0xdf)
		return 2;
	return 1;
}

/* The bytes at the end that may be the beginning of a character. */
static size_t unfinished(const char *bytes, size_t len)
{
	for (size_t back = 1; back <= 3 && back <= len; back++) {
		uint8_t byte = (uint8_t)bytes[len - back];

		if ((byte & 0xc0) != 0x80)
			return sequence_len(byte) > back ? back : 0;
	}
	return 0;
}

/* Moves bytes from the new piece to the held ones until their character is whole. */
static int feed_held(struct safe_stream *stream, struct buf *out, const char **bytes, size_t *len)
{
	size_t whole = sequence_len((uint8_t)stream->held[0]);

	while (stream->held_len<whole && * len> 0 && ((uint8_t) * *bytes & 0xc0) == 0x80) {
		stream->held[stream->held_len++] = **bytes;
		*bytes += 1;
		*len -= 1;
	}
	if (stream->held_len < whole && *len == 0)
		return 0;
	return safe_flush(stream, out);
}

int safe_feed(struct safe_stream *stream, struct buf *out, const char *bytes, size_t len)
{
	size_t kept;

	if (stream->held_len > 0 && feed_held(stream, out, &bytes, &len) < 0)
		return -1;
	if (len == 0)
		return 0;
	kept = unfinished(bytes, len);
	if (safe_append(out, SAFE_BLOCK, bytes, len - kept) < 0)
		return -1;
	memcpy(stream->held, bytes + len - kept, kept);
	stream->held_len = kept;
	return 0;
}

int safe_flush(struct safe_stream *stream, struct buf *out)
{
	size_t len = stream->held_len;

	stream->held_len = 0;
	return safe_append(out, SAFE_BLOCK, stream->held, len);
}

static int json_escape(struct buf *out, int32_t point)
{
	uint32_t rest = (uint32_t)point - 0x10000;

	if (point < 0x10000)
		return buf_printf(out, "\\u%04x", (unsigned)point);
	return buf_printf(out, "\\u%04x\\u%04x", 0xd800 + (rest >> 10), 0xdc00 + (rest & 0x3ff));
}

int safe_json(struct buf *out, const char *json, size_t len)
{
	size_t at = 0;

	while (at < len) {
		size_t start = at;
		int32_t point = utf8_next(json, len, &at);
		int status;

		if (point >= 0x7f && is_unseen(point))
			status = json_escape(out, point);
		else
			status = buf_append(out, json + start, at - start);
		if (status < 0)
			return -1;
	}
	return 0;
}

/* wcwidth() knows the characters when main() has set a UTF-8 locale; else each counts 1. */
static size_t point_columns(int32_t point)
{
	int columns;

	if (point < 0x7f)
		return 1;
	columns = wcwidth((wchar_t)point);
	return columns < 0 ? 1 : (size_t)columns;
}

size_t safe_columns(const char *text, size_t len)
{
	size_t columns = 0;

	for (size_t at = 0; at < len;)
		columns += point_columns(utf8_next(text, len, &at));
	return columns;
}

size_t safe_fit(const char *text, size_t len, size_t columns)
{
	size_t filled = 0;
	size_t at = 0;

	while (at < len) {
		size_t start = at;

		filled += point_columns(utf8_next(text, len, &at));
		if (filled > columns)
			return start;
	}
	return len;
}
