/*
 * A growing byte buffer with a ceiling that it cannot pass.
 *
 * Lives inside a larger struct: buf_init() to buf_done().  An append that would pass the ceiling,
 * or for which there is no memory, changes nothing and returns -1.
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

/* Frees the bytes.  May be called twice. */
void buf_done(struct buf *buf);

int buf_append(struct buf *buf, const void *bytes, size_t len);
int buf_append_byte(struct buf *buf, uint8_t byte);
int buf_append_text(struct buf *buf, const char *text);
int buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Room for at least `len` more bytes at buf->bytes + buf->len, or -1.  The caller adds to len. */
int buf_reserve(struct buf *buf, size_t len);

/* Drops `len` bytes from the front. */
void buf_consume(struct buf *buf, size_t len);

/* Gives the bytes (malloc); the buffer is empty afterwards.  NULL when it never grew. */
char *buf_take(struct buf *buf, size_t *ret_len);
