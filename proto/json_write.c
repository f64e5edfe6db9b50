#include <math.h>
#include <stdio.h>
#include <string.h>

#include "proto/digest.h"
#include "proto/json.h"
#include "proto/number.h"

/* The escapes of control characters, quote and backslash.  Bytes without a row become \u00XX. */
static const char *const escapes[0x80] = {
	['\b'] = "\\b",
	['\f'] = "\\f",
	['\n'] = "\\n",
	['\r'] = "\\r",
	['\t'] = "\\t",
	['"'] = "\\\"",
	['\\'] = "\\\\",
};

struct writing {
	struct buf *buf;
	unsigned style;
	unsigned depth;
	bool cuts; /* when the buffer is too small, write what fits */
	struct err *err;
};

/* Reports why an append failed: no memory, or the ceiling. */
static int full(struct writing *writing, size_t len)
{
	const struct buf *buf = writing->buf;

	if (len <= buf->ceiling - buf->len)
		return err_set(writing->err, ERR_MEMORY, "no memory for JSON");
	return err_set(writing->err, ERR_TOO_BIG, "more than %zu bytes of JSON", buf->ceiling);
}

static int put(struct writing *writing, const char *bytes, size_t len)
{
	struct buf *buf = writing->buf;

	if (buf_append(buf, bytes, len) == 0)
		return 0;
	if (writing->cuts && len > buf->ceiling - buf->len)
		(void)buf_append(buf, bytes, buf->ceiling - buf->len);
	return full(writing, len);
}

static int put_word(struct writing *writing, const char *word)
{
	return put(writing, word, strlen(word));
}

static bool is_plain(char c)
{
	return (unsigned char)c >= 0x20 && c != '"' && c != '\\';
}

static int put_escape(struct writing *writing, char c)
{
	char text[8];

	if (escapes[(unsigned char)c])
		return put_word(writing, escapes[(unsigned char)c]);
	(void)snprintf(text, sizeof(text), "\\u%04x", (unsigned)(unsigned char)c);
	return put_word(writing, text);
}

static int put_text(struct writing *writing, const char *text, size_t len)
{
	size_t plain = 0;

	if (writing->cuts && len > writing->buf->ceiling)
		len = writing->buf->ceiling; /* no more can be written */
	if (put(writing, "\"", 1) < 0)
		return -1;
	for (size_t i = 0; i < len; i++) {
		if (is_plain(text[i]))
			continue;
		if (put(writing, text + plain, i - plain) < 0 || put_escape(writing, text[i]) < 0)
			return -1;
		plain = i + 1;
	}
	if (put(writing, text + plain, len - plain) < 0)
		return -1;
	return put(writing, "\"", 1);
}

/* Writes base64 in lines of 64 characters until the buffer is full. */
static int put_lines(struct writing *writing, const char *bytes, size_t len)
{
	char line[64 + 1];

	for (size_t at = 0; at < len; at += 48) {
		size_t step = len - at < 48 ? len - at : 48;

		if (put(writing, line, base64_write(bytes + at, step, line)) < 0)
			return -1;
	}
	return 0;
}

static int put_bytes(struct writing *writing, const char *bytes, size_t len)
{
	struct buf *buf = writing->buf;

	if (!(writing->style & JSON_WRITE_BASE64))
		return err_set(writing->err, ERR_INVALID, "bytes have no form in JSON");
	if (put_word(writing, "{\"base64\":\"") < 0)
		return -1;
	if (writing->cuts && base64_size(len) > buf->ceiling - buf->len)
		return put_lines(writing, bytes, len);
	if (buf_reserve(buf, base64_size(len)) < 0)
		return full(writing, base64_size(len));
	buf->len += base64_write(bytes, len, buf->bytes + buf->len);
	return put_word(writing, "\"}");
}

static int put_real(struct writing *writing, double real)
{
	char text[NUMBER_TEXT_MAX];

	if (!isfinite(real))
		return err_set(writing->err, ERR_INVALID, "JSON has no NaN and no Infinity");
	return put(writing, text, number_write_real(real, text));
}

static int put_integer(struct writing *writing, const struct value *value)
{
	char text[NUMBER_TEXT_MAX];

	if (value->type == VALUE_UINT)
		(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)value->uinteger);
	else
		(void)snprintf(text, sizeof(text), "%lld", (long long)value->integer);
	return put_word(writing, text);
}

static int put_line(struct writing *writing)
{
	if (!(writing->style & JSON_WRITE_PRETTY))
		return 0;
	if (put(writing, "\n", 1) < 0)
		return -1;
	for (unsigned i = 0; i < writing->depth; i++) {
		if (put(writing, "  ", 2) < 0)
			return -1;
	}
	return 0;
}

static int put_node(struct writing *writing, const struct value *value);

static int put_key(struct writing *writing, const struct value_entry *entry)
{
	if ((writing->style & JSON_WRITE_READABLE) && memchr(entry->key, '\0', entry->key_len))
		return err_set(writing->err, ERR_INVALID, "a key holds U+0000");
	if (put_text(writing, entry->key, entry->key_len) < 0)
		return -1;
	return put_word(writing, writing->style & JSON_WRITE_PRETTY ? ": " : ":");
}

/* Writes the item at `index` of a list or map, on its own line in the pretty style. */
static int put_item(struct writing *writing, const struct value *value, size_t index)
{
	if ((index && put(writing, ",", 1) < 0) || put_line(writing) < 0)
		return -1;
	if (value->type == VALUE_LIST)
		return put_node(writing, value->list.items[index]);
	if (put_key(writing, &value->map.entries[index]) < 0)
		return -1;
	return put_node(writing, value->map.entries[index].value);
}

static int put_items(struct writing *writing, const struct value *value)
{
	bool is_list = value->type == VALUE_LIST;
	size_t count = is_list ? value->list.count : value->map.count;

	if (++writing->depth > JSON_DEPTH_MAX)
		return err_set(writing->err, ERR_INVALID, "nested too deeply for JSON");
	if (put(writing, is_list ? "[" : "{", 1) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (put_item(writing, value, i) < 0)
			return -1;
	}
	writing->depth--;
	if (count && put_line(writing) < 0)
		return -1;
	return put(writing, is_list ? "]" : "}", 1);
}

static int put_node(struct writing *writing, const struct value *value)
{
	switch (value->type) {
	case VALUE_NIL:
		break;
	case VALUE_BOOL:
		return put_word(writing, value->boolean ? "true" : "false");
	case VALUE_INT:
	case VALUE_UINT:
		return put_integer(writing, value);
	case VALUE_REAL:
		return put_real(writing, value->real);
	case VALUE_TEXT:
		return put_text(writing, value->text.bytes, value->text.len);
	case VALUE_BYTES:
		return put_bytes(writing, value->text.bytes, value->text.len);
	case VALUE_LIST:
	case VALUE_MAP:
		return put_items(writing, value);
	}
	return put_word(writing, "null");
}

int json_write(struct buf *buf, const struct value *value, unsigned style, struct err *err)
{
	struct writing writing = { .buf = buf, .style = style, .err = err };
	size_t before = buf->len;

	if (put_node(&writing, value) < 0) {
		buf->len = before;
		return -1;
	}
	return 0;
}

void json_write_start(struct buf *buf, const struct value *value, unsigned style)
{
	struct err err = ERR_INIT;
	struct writing writing = { .buf = buf, .style = style, .cuts = true, .err = &err };

	(void)put_node(&writing, value);
}

int json_write_text(struct arena *arena, const struct value *value, unsigned style, size_t ceiling,
	struct bytes *ret_text, struct err *err)
{
	__attribute__((cleanup(buf_done))) struct buf buf;
	const char *text;

	buf_init(&buf, ceiling);
	if (json_write(&buf, value, style, err) < 0)
		return -1;
	text = arena_copy(arena, buf.bytes, buf.len);
	if (!text)
		return err_set(err, ERR_MEMORY, "no memory for JSON");
	*ret_text = (struct bytes){ text, buf.len };
	return 0;
}
