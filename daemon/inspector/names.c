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

static void append(struct name *name, const char *text, size_t len)
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

/* As append(), normalised.  A text that is too long to be normalised is cut first. */
static void append_normalised(struct name *name, const char *text, size_t len)
{
	const utf8proc_option_t nfkc = UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT;
	/* One place more: re-encoding puts a NUL behind the bytes. */
	utf8proc_int32_t points[POINTS_MAX + 1];
	utf8proc_ssize_t count;

	if (is_ascii(text, len)) {
		append(name, text, len);
		return;
	}
	count = utf8proc_decompose(
		(const utf8proc_uint8_t *)text, (utf8proc_ssize_t)len, points, POINTS_MAX, nfkc);
	if (count >= 0 && count <= POINTS_MAX)
		count = utf8proc_reencode(points, count, nfkc);
	if (count >= 0 && count <= POINTS_MAX * 4) {
		append(name, (const char *)points, (size_t)count);
		return;
	}
	append(name, text, len);
	name->cut = true;
}

void name_read(const char *text, size_t len, struct name *ret_name)
{
	ret_name->len = 0;
	ret_name->cut = false;
	ret_name->text[0] = '\0';
	append_normalised(ret_name, text, len);
}

void path_join(struct name *path, const char *part, size_t len)
{
	if (path->len > 0)
		append(path, ".", 1);
	append_normalised(path, part, len);
}

/* Skips what may stand between the parts of a path. */
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

	return c >= 0x80 || c == '_' || (c >= '0' && c <= '9') ||
	       ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

size_t name_span(const char *text, size_t len)
{
	size_t at = 0;

	while (at < len && is_name_byte(text[at]))
		at++;
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
