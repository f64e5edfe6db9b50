#include "proto/base/err.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char CUT_MARK[] = "...";

static bool is_inside_character(char byte)
{
	return ((unsigned char)byte & 0xc0U) == 0x80;
}

/* Shortens a text that fills its buffer, so that the mark follows a whole character. */
static void mark_cut(char *buffer, size_t size)
{
	size_t kept = size < sizeof(CUT_MARK) ? 0 : size - sizeof(CUT_MARK);

	if (size < sizeof(CUT_MARK)) {
		/*
		 * There is no room for the mark.  Keep the ASCII characters at the front, which are
		 * whole.
		 */
		while ((unsigned char)buffer[kept] - 1U < 0x7f)
			kept++;
		buffer[kept] = '\0';
		return;
	}
	while (kept > 0 && is_inside_character(buffer[kept]))
		kept--;
	memcpy(buffer + kept, CUT_MARK, sizeof(CUT_MARK));
}

void cut_vprintf(char *buffer, size_t size, const char *format, va_list args)
{
	int len;

	if (size == 0)
		return;

	len = vsnprintf(buffer, size, format, args);
	if (len < 0)
		buffer[0] = '\0';
	else if ((size_t)len >= size)
		mark_cut(buffer, size);
}

void cut_printf(char *buffer, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	cut_vprintf(buffer, size, format, args);
	va_end(args);
}

int err_set(struct err *err, enum err_code code, const char *format, ...)
{
	char text[ERR_TEXT_MAX]; /* the arguments may point into err->text */
	va_list args;

	if (!err)
		return -1;

	va_start(args, format);
	cut_vprintf(text, sizeof(text), format, args);
	va_end(args);

	err->code = code;
	err->sys_errno = 0;
	memcpy(err->text, text, sizeof(text));
	return -1;
}

int err_sys(struct err *err, const char *format, ...)
{
	int sys_errno = errno;
	char text[ERR_TEXT_MAX];
	va_list args;

	if (!err)
		return -1;

	va_start(args, format);
	cut_vprintf(text, sizeof(text), format, args);
	va_end(args);

	err_set(err, ERR_SYSTEM, "%s: %s", text, strerrordesc_np(sys_errno) ?: "unknown error");
	err->sys_errno = sys_errno;
	errno = sys_errno;
	return -1;
}

int err_pass(struct err *err, const struct err *other)
{
	if (err)
		*err = *other;
	return -1;
}

int err_wrap(struct err *err, const char *format, ...)
{
	char text[ERR_TEXT_MAX];
	char whole[ERR_TEXT_MAX];
	va_list args;

	if (!err)
		return -1;

	va_start(args, format);
	cut_vprintf(text, sizeof(text), format, args);
	va_end(args);

	cut_printf(whole, sizeof(whole), "%s: %s", text, err->text);
	memcpy(err->text, whole, sizeof(whole));
	return -1;
}
