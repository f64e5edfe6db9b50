#include "daemon/redact/encodings.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/buf.h"
#include "proto/base/container.h"
#include "proto/base/utf8.h"

/*
 * A piece is 17 groups of three bytes, as base64 encodes them, and overlaps the next by one group.
 */
#define PIECE_LEN   51U
#define PIECE_STEP  48U
#define FORM_MAX    (6U * PIECE_LEN + 8U) /* \u00e4 for two bytes, %e4 for one */
/* A shorter encoded form is as likely to be something else. */
#define ENCODED_MIN 8U

struct collecting {
	struct arena *arena;
	struct match_text *items;
	size_t count, size;
	size_t piece; /* where its forms begin */
	bool failed;
};

/* Whether another form of this piece has the same bytes. */
static bool is_known(const struct collecting *all, const char *bytes, size_t len)
{
	for (size_t i = all->piece; i < all->count; i++)
		if (all->items[i].len == len && !memcmp(all->items[i].bytes, bytes, len))
			return true;
	return false;
}

static void add(struct collecting *all, const char *bytes, size_t len, bool any_case)
{
	char *copy;

	if (all->failed || len < SECRET_LEN_MIN || is_known(all, bytes, len))
		return;
	copy = all->count < all->size ? arena_copy(all->arena, bytes, len) : NULL;
	if (!copy) {
		all->failed = true;
		return;
	}
	all->items[all->count++] =
		(struct match_text){ .bytes = copy, .len = len, .any_case = any_case };
}

/* ---- forms ---------------------------------------------------------------------------------- */

static void as_it_is(struct collecting *all, const char *bytes, size_t len)
{
	add(all, bytes, len, false);
}

static void as_hex(struct collecting *all, const char *bytes, size_t len)
{
	char text[FORM_MAX];

	for (size_t i = 0; i < len; i++)
		(void)snprintf(text + 2 * i, 3, "%02x", (unsigned)(unsigned char)bytes[i]);
	add(all, text, 2 * len, true);
}

static bool is_plain_in_url(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("-._~", c));
}

/* Encodes every byte that a URL may encode with a percent sign, but not those in `also`. */
static void as_url(struct collecting *all, const char *bytes, size_t len, const char *also)
{
	char text[FORM_MAX];
	size_t at = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (is_plain_in_url(c) || (c && strchr(also, c)))
			text[at++] = (char)c;
		else
			at += (size_t)snprintf(text + at, 4, "%%%02x", (unsigned)c);
	}
	add(all, text, at, true);
}

static void as_query(struct collecting *all, const char *bytes, size_t len)
{
	as_url(all, bytes, len, "");
}

static void as_path(struct collecting *all, const char *bytes, size_t len)
{
	as_url(all, bytes, len, "/");
}

/* The bytes that are written with a backslash, and the letters that follow it. */
struct escapes {
	const char *from, *to;
};

static const struct escapes of_json = { "\"\\\n\r\t\b\f", "\"\\nrtbf" };
static const struct escapes of_source = { "\\\n\r\t", "\\nrt" };
static const struct escapes of_quoted_source = { "'\\\n\r\t", "'\\nrt" };

static size_t put_escape(const struct escapes *escapes, char *text, unsigned char c)
{
	const char *found = c ? strchr(escapes->from, c) : NULL;

	if (found)
		return (size_t)snprintf(text, 3, "\\%c", escapes->to[found - escapes->from]);
	if (c < 0x20)
		return (size_t)snprintf(text, 7, "\\u%04x", (unsigned)c);
	text[0] = (char)c;
	return 1;
}

static void as_escaped(
	struct collecting *all, const char *bytes, size_t len, const struct escapes *escapes)
{
	char text[FORM_MAX];
	size_t at = 0;

	for (size_t i = 0; i < len; i++)
		at += put_escape(escapes, text + at, (unsigned char)bytes[i]);
	add(all, text, at, false);
}

/* As written between quotes in the source of a program. */
static void as_source(struct collecting *all, const char *bytes, size_t len)
{
	as_escaped(all, bytes, len, &of_source);
	as_escaped(all, bytes, len, &of_quoted_source);
}

/* As written for a key in a JSON Pointer. */
static void as_pointer(struct collecting *all, const char *bytes, size_t len)
{
	char text[FORM_MAX];
	size_t at = 0;

	for (size_t i = 0; i < len; i++)
		if (bytes[i] == '~' || bytes[i] == '/')
			at += (size_t)snprintf(text + at, 3, "~%c", bytes[i] == '~' ? '0' : '1');
		else
			text[at++] = bytes[i];
	add(all, text, at, false);
}

static void as_json(struct collecting *all, const char *bytes, size_t len)
{
	as_escaped(all, bytes, len, &of_json);
}

static size_t put_point(char *text, uint32_t point)
{
	if (point < 0x80)
		return put_escape(&of_json, text, (unsigned char)point);
	if (point < 0x10000)
		return (size_t)snprintf(text, 7, "\\u%04x", point);
	return (size_t)snprintf(text, 13, "\\u%04x\\u%04x", 0xd800U + ((point - 0x10000U) >> 10),
		0xdc00U + ((point - 0x10000U) & 0x3ffU));
}

/* As json.dumps() of Python writes it.  A piece may begin and end inside a character. */
static void as_json_in_ascii(struct collecting *all, const char *bytes, size_t len)
{
	size_t end = utf8_whole_prefix(bytes, len);
	size_t from = utf8_skip_partial(bytes, end);
	char text[FORM_MAX];
	size_t at = 0;

	if (!utf8_is_valid(bytes + from, end - from))
		return;
	while (from < end)
		at += put_point(text + at, (uint32_t)utf8_next(bytes, end, &from));
	add(all, text, at, true);
}

/*
 * The base64 characters that depend on these bytes alone, when `before` other bytes (0 to 2)
 * precede them in their group of three.
 */
static void as_base64(
	struct collecting *all, const char *bytes, size_t len, unsigned before, const char *digits)
{
	size_t first = (before * 8 + 5) / 6;
	size_t end = (before + len) * 8 / 6;
	char text[FORM_MAX];

	for (size_t k = first; k < end; k++) {
		unsigned value = 0;

		for (size_t bit = k * 6; bit < k * 6 + 6; bit++) {
			size_t at = bit / 8 - before;

			value = value << 1 | ((unsigned char)bytes[at] >> (7 - bit % 8) & 1U);
		}
		text[k - first] = digits[value];
	}
	if (end > first && end - first >= ENCODED_MIN)
		add(all, text, end - first, false);
}

static void as_any_base64(struct collecting *all, const char *bytes, size_t len)
{
	static const char usual[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	static const char url[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

	for (unsigned before = 0; before < 3; before++) {
		as_base64(all, bytes, len, before, usual);
		as_base64(all, bytes, len, before, url);
	}
}

static void (*const ways[])(struct collecting *all, const char *bytes, size_t len) = {
	as_it_is,
	as_json,
	as_json_in_ascii,
	as_source,
	as_pointer,
	as_query,
	as_path,
	as_hex,
	as_any_base64,
};

/* Forms of one piece: as_source() adds two, base64 six. */
#define FORMS_MAX (COUNT_OF(ways) + 1 + 5)

static void add_piece(struct collecting *all, const char *bytes, size_t len)
{
	all->piece = all->count;
	for (size_t i = 0; i < COUNT_OF(ways); i++)
		ways[i](all, bytes, len);
}

static size_t pieces_of(size_t len)
{
	return len <= PIECE_LEN ? 1 : 1 + (len - PIECE_LEN + PIECE_STEP - 1) / PIECE_STEP;
}

/* The last piece is as long as the others, and overlaps more. */
static void add_secret(struct collecting *all, const struct bytes *secret)
{
	size_t count = pieces_of(secret->len);

	if (count == 1) {
		add_piece(all, secret->data, secret->len);
		return;
	}
	for (size_t i = 0; i + 1 < count; i++)
		add_piece(all, secret->data + i * PIECE_STEP, PIECE_LEN);
	add_piece(all, secret->data + secret->len - PIECE_LEN, PIECE_LEN);
}

struct multi_match *encodings_of(struct arena *arena, const struct bytes *secrets, size_t count)
{
	struct collecting all = { .arena = arena };

	for (size_t i = 0; i < count; i++)
		all.size += pieces_of(secrets[i].len) * FORMS_MAX;
	all.items = arena_array(arena, struct match_text, all.size);
	if (!all.items)
		return NULL;
	for (size_t i = 0; i < count; i++)
		add_secret(&all, &secrets[i]);
	return all.failed ? NULL : multi_match_new(arena, all.items, all.count);
}
