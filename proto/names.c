#include "proto/names.h"

#include <stdint.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/base/utf8.h"

#define VARIABLE_LEN_MAX 128

/*
 * Ranges of code points that are never printable: controls, line ends, marks that change the
 * direction, and what draws nothing, so that two names cannot look alike.  The joiner for pictures,
 * U+FE0F, is part of real names.
 */
static const struct {
	int32_t first;
	int32_t last;
} hidden[] = {
	{ 0x0000, 0x001f },
	{ 0x007f, 0x009f },
	{ 0x00ad, 0x00ad },
	{ 0x034f, 0x034f },
	{ 0x061c, 0x061c },
	{ 0x115f, 0x1160 },
	{ 0x17b4, 0x17b5 },
	{ 0x180b, 0x180f },
	{ 0x200b, 0x200f },
	{ 0x2028, 0x202e },
	{ 0x2060, 0x206f },
	{ 0x2800, 0x2800 },
	{ 0x3164, 0x3164 },
	{ 0xfe00, 0xfe0e },
	{ 0xfeff, 0xfeff },
	{ 0xffa0, 0xffa0 },
	{ 0xfff0, 0xfffb },
	{ 0x1bca0, 0x1bca3 },
	{ 0x1d173, 0x1d17a },
	{ 0xe0000, 0xe0fff },
};

static bool is_hidden(int32_t point)
{
	for (size_t i = 0; i < COUNT_OF(hidden); i++) {
		if (point >= hidden[i].first && point <= hidden[i].last)
			return true;
	}
	return point < 0;
}

bool name_is_printable(const char *text, size_t len)
{
	for (size_t at = 0; at < len;) {
		if (is_hidden(utf8_next(text, len, &at)))
			return false;
	}
	return true;
}

static bool is_dots(const char *text, size_t len)
{
	return len <= 2 && strspn(text, ".") >= len;
}

bool name_is_file(const char *text, size_t len)
{
	if (len == 0 || len > NAME_PART_MAX || memchr(text, '/', len))
		return false;
	return !is_dots(text, len) && name_is_printable(text, len);
}

bool name_is_path(const char *text, size_t len)
{
	const char *end = text + len;

	for (;;) {
		const char *slash = memchr(text, '/', (size_t)(end - text));

		if (!name_is_file(text, (size_t)((slash ? slash : end) - text)))
			return false;
		if (!slash)
			return true;
		text = slash + 1;
	}
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool name_is_variable(const char *text, size_t len)
{
	if (len == 0 || len > VARIABLE_LEN_MAX || !is_letter(text[0]))
		return false;
	for (size_t i = 1; i < len; i++) {
		if (!is_letter(text[i]) && !(text[i] >= '0' && text[i] <= '9'))
			return false;
	}
	return true;
}

#define SMALL_ALPHANUMERIC "abcdefghijklmnopqrstuvwxyz0123456789"

bool name_is_package(const char *text)
{
	size_t len = strlen(text);

	return len > 0 && len <= PACKAGE_NAME_MAX && strspn(text, SMALL_ALPHANUMERIC) > 0 &&
	       strspn(text, SMALL_ALPHANUMERIC "._-") == len;
}
