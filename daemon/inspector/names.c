#include "daemon/inspector/names.h"

#include <stdint.h>
#include <string.h>

#include <utf8proc.h>

/* NFKC makes at most 18 code points of one, each of 4 bytes; our buffer holds 4 bytes a point. */
#define POINTS_MAX ((utf8proc_ssize_t)NAME_BYTES_MAX)

static bool is_ascii(const char *text, size_t len)
{
	unsigned char all = 0;

	for (size_t i = 0; i < len; i++)
		all |= (unsigned char)text[i];
	return all < 0x80;
}

void path_append(struct name *name, const char *text, size_t len)
{
	size_t room = NAME_BYTES_MAX - name->len;

	if (len > room) {
		len = room;
		name->cut = true;
	}
	memcpy(name->text + name->len, text, len);
	name->len += len;
	name->text[name->len] = '\0';
}

/* As path_append(), normalised. */
static void append_normalised(struct name *name, const char *text, size_t len)
{
	const utf8proc_option_t nfkc = UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT;
	/* One place more: re-encoding adds a NUL. */
	utf8proc_int32_t points[POINTS_MAX + 1];
	utf8proc_ssize_t count;

	count = utf8proc_decompose(
		(const utf8proc_uint8_t *)text, (utf8proc_ssize_t)len, points, POINTS_MAX, nfkc);
	if (count >= 0 && count <= POINTS_MAX)
		count = utf8proc_reencode(points, count, nfkc);
	if (count >= 0 && count <= POINTS_MAX * 4) {
		path_append(name, (const char *)points, (size_t)count);
		return;
	}
	path_append(name, text, len);
	name->cut = true;
}

/* ---- escapes of JavaScript ------------------------------------------------------------------ */

static bool is_hex(char byte)
{
	return (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f');
}

/* The length of \uXXXX or \u{X...} at the front, 0 when there is none. */
static size_t escape_span(const char *text, size_t len)
{
	size_t at = 2;

	if (len < 6 || text[0] != '\\' || text[1] != 'u')
		return 0;
	if (text[2] == '{') {
		while (++at < len && is_hex(text[at]))
			;
		return at > 3 && at < len && text[at] == '}' ? at + 1 : 0;
	}
	while (at < 6 && is_hex(text[at]))
		at++;
	return at == 6 ? at : 0;
}

static uint32_t escape_point(const char *text, size_t span)
{
	uint32_t point = 0;

	for (size_t i = 2; i < span; i++)
		if (is_hex(text[i]) && point < 0x110000)
			point = point * 16 +
				(text[i] <= '9' ? (uint32_t)(text[i] - '0')
						: (uint32_t)(text[i] | 0x20) - 'a' + 10);
	return point;
}

/* Decodes escapes.  Lists are ASCII, so an escape of any other character becomes one fixed byte. */
static void append_unescaped(struct name *name, const char *text, size_t len)
{
	for (size_t at = 0; at < len;) {
		size_t span = escape_span(text + at, len - at);
		uint32_t point = span > 0 ? escape_point(text + at, span) : 0;
		char byte = (char)(point > 0x1f && point < 0x7f ? point : 2);

		path_append(name, span > 0 ? &byte : text + at, 1);
		at += span > 0 ? span : 1;
	}
}

/*
 * Normalises only names that are not ASCII, since an ASCII name stays the same.  Cuts a long name
 * first.
 */
static void append_part(struct name *name, const char *text, size_t len)
{
	if (memchr(text, '\\', len))
		append_unescaped(name, text, len);
	else if (is_ascii(text, len) || len > (size_t)4 * NAME_BYTES_MAX)
		path_append(name, text, len);
	else
		append_normalised(name, text, len);
}

void name_read(const char *text, size_t len, struct name *ret_name)
{
	ret_name->len = 0;
	ret_name->cut = false;
	ret_name->text[0] = '\0';
	append_part(ret_name, text, len);
}

void path_join(struct name *path, const char *part, size_t len)
{
	if (path->len > 0)
		path_append(path, ".", 1);
	append_part(path, part, len);
}

/* Skips blanks, comments and line continuations between the parts of a path. */
static size_t skip_space(const char *text, size_t len, size_t at)
{
	while (at < len) {
		if (text[at] == '#')
			while (at < len && text[at] != '\n')
				at++;
		else if (text[at] && strchr(" \t\r\n\f\\", text[at]))
			at++;
		else
			break;
	}
	return at;
}

static bool is_name_byte(char byte)
{
	unsigned char c = (unsigned char)byte;

	return c >= 0x80 || c == '_' || c == '$' || (c >= '0' && c <= '9') ||
	       ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

size_t name_span(const char *text, size_t len)
{
	size_t at = 0;

	while (at < len) {
		size_t escape = text[at] == '\\' ? escape_span(text + at, len - at) : 0;

		if (escape == 0 && !is_name_byte(text[at]))
			break;
		at += escape > 0 ? escape : 1;
	}
	return at;
}

bool path_read(const char *text, size_t len, struct name *ret_name)
{
	size_t at = skip_space(text, len, 0);

	name_read("", 0, ret_name);
	for (;;) {
		size_t end = at + name_span(text + at, len - at);

		if (end == at)
			return false;
		path_join(ret_name, text + at, end - at);
		at = skip_space(text, len, end);
		if (at == len)
			return true;
		if (text[at] != '.')
			return false;
		at = skip_space(text, len, at + 1);
	}
}

size_t path_tail(const struct name *path)
{
	const char *dot = memrchr(path->text, '.', path->len);

	return dot ? (size_t)(dot - path->text) + 1 : 0;
}

size_t path_head_len(const struct name *path)
{
	const char *dot = memchr(path->text, '.', path->len);

	return dot ? (size_t)(dot - path->text) : path->len;
}
