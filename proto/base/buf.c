#include "proto/base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUF_BYTES_FIRST ((size_t)256)

void buf_init(struct buf *buf, size_t ceiling)
{
	*buf = (struct buf){ .ceiling = ceiling };
}

void buf_done(struct buf *buf)
{
	free(buf->bytes);
	buf_init(buf, buf->ceiling);
}

/* Returns twice the old size, or `need` when that is more; never more than the ceiling. */
static size_t next_size(const struct buf *buf, size_t need)
{
	size_t size = buf->size > 0 ? buf->size : BUF_BYTES_FIRST;

	size = size > buf->ceiling / 2 ? buf->ceiling : size * 2;
	return size > need ? size : need;
}

int buf_reserve(struct buf *buf, size_t len)
{
	size_t size;
	char *bytes;

	if (len <= buf->size - buf->len)
		return 0;
	if (len > buf->ceiling - buf->len)
		return -1;

	size = next_size(buf, buf->len + len);
	bytes = realloc(buf->bytes, size);
	if (!bytes)
		return -1;

	buf->bytes = bytes;
	buf->size = size;
	return 0;
}

int buf_append(struct buf *buf, const void *bytes, size_t len)
{
	if (buf_reserve(buf, len) < 0)
		return -1;

	if (len > 0)
		memcpy(buf->bytes + buf->len, bytes, len);
	buf->len += len;
	return 0;
}

int buf_append_byte(struct buf *buf, uint8_t byte)
{
	return buf_append(buf, &byte, 1);
}

int buf_append_text(struct buf *buf, const char *text)
{
	return buf_append(buf, text, strlen(text));
}

static int print_at_end(struct buf *buf, size_t len, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

/*
 * vsnprintf() also writes a NUL.  The NUL is not content and may pass the ceiling, so this prints
 * into a separate buffer.
 */
static int print_at_end(struct buf *buf, size_t len, const char *format, va_list args)
{
	char *text;
	int appended;

	if (len > buf->ceiling - buf->len)
		return -1;
	text = malloc(len + 1);
	if (!text)
		return -1;

	(void)vsnprintf(text, len + 1, format, args);
	appended = buf_append(buf, text, len);
	free(text);
	return appended;
}

int buf_printf(struct buf *buf, const char *format, ...)
{
	char small[256];
	va_list args;
	va_list again;
	int len;
	int printed = -1;

	va_start(args, format);
	va_copy(again, args);
	len = vsnprintf(small, sizeof(small), format, args);
	if (len >= 0 && (size_t)len < sizeof(small))
		printed = buf_append(buf, small, (size_t)len);
	else if (len >= 0)
		printed = print_at_end(buf, (size_t)len, format, again);
	va_end(again);
	va_end(args);
	return printed;
}

void buf_consume(struct buf *buf, size_t len)
{
	if (len >= buf->len) {
		buf->len = 0;
		return;
	}
	memmove(buf->bytes, buf->bytes + len, buf->len - len);
	buf->len -= len;
}

char *buf_take(struct buf *buf, size_t *ret_len)
{
	char *bytes = buf->bytes;

	*ret_len = buf->len;
	buf_init(buf, buf->ceiling);
	return bytes;
}
