/*
 * A byte buffer that grows up to a ceiling.
 *
 * The owner embeds it in a larger struct, calls buf_init() first and buf_done() last.  An append
 * that would pass the ceiling, or that gets no memory, changes nothing and returns -1.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct buf {
	char *bytes; /* NULL while empty and never grown */
	size_t len;
	size_t size;
	size_t ceiling;
};

void buf_init(struct buf *buf, size_t ceiling);

/* Frees the bytes.  A second call is harmless. */
void buf_done(struct buf *buf);

int buf_append(struct buf *buf, const void *bytes, size_t len);
int buf_append_byte(struct buf *buf, uint8_t byte);
int buf_append_text(struct buf *buf, const char *text);
int buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Makes room for at least `len` more bytes at buf->bytes + buf->len.  The caller writes there and
 * increases buf->len. -1: past the ceiling, or no memory.
 */
int buf_reserve(struct buf *buf, size_t len);

/* Removes `len` bytes from the front. */
void buf_consume(struct buf *buf, size_t len);

/* Returns the bytes, which the caller frees, and empties the buffer.  NULL when it never grew. */
char *buf_take(struct buf *buf, size_t *ret_len);
