#include "cli/mcp/answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/safe.h"
#include "proto/base/container.h"
#include "proto/digest.h"

#define TEXT_MAX           ((size_t)4 << 20)
#define SAFE_MAX           ((size_t)64 << 20)
#define HEAD_BYTES         ((size_t)6 << 10)
#define TAIL_BYTES         ((size_t)2 << 10)
#define PICTURES_MAX       8
#define PICTURES_MAX_BYTES ((size_t)4 << 20)
#define COPY_DEPTH         64

/* The kinds of pictures that models read. */
static const char *const picture_types[] = { "image/png", "image/jpeg", "image/gif", "image/webp" };

void answer_init(struct answer *answer, struct arena *arena)
{
	*answer = (struct answer){ .arena = arena, .facts = fill_start(arena) };
	answer->pictures = value_list(arena);
	buf_init(&answer->text, TEXT_MAX);
}

void answer_done(struct answer *answer)
{
	buf_done(&answer->text);
}

void answer_say(struct answer *answer, const char *format, ...)
{
	char *text = NULL;
	va_list args;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0)
		return;
	(void)buf_append(&answer->text, text, (size_t)len);
	free(text);
}

/* ---- safe copies --------------------------------------------------------------------------- */

struct value *answer_safe(struct arena *arena, const char *bytes, size_t len)
{
	struct value *text;
	struct buf safe;

	buf_init(&safe, SAFE_MAX);
	(void)safe_append(&safe, SAFE_BLOCK, bytes, len);
	text = value_text_len(arena, safe.bytes ? safe.bytes : "", safe.len);
	buf_done(&safe);
	return text;
}

// NOLINTNEXTLINE(misc-no-recursion): the depth is bounded
static struct value *safe_copy(struct arena *arena, const struct value *value, unsigned depth)
{
	struct value *copy;

	if (depth > COPY_DEPTH)
		return value_text(arena, "...");
	if (value_is(value, VALUE_TEXT) || value_is(value, VALUE_BYTES))
		return answer_safe(arena, value->text.bytes, value->text.len);
	if (value_is(value, VALUE_LIST)) {
		copy = value_list(arena);
		for (size_t i = 0; value_at(value, i); i++)
			value_list_add(
				arena, copy, safe_copy(arena, value_at(value, i), depth + 1));
		return copy;
	}
	if (!value_is(value, VALUE_MAP))
		return value_copy(arena, value);
	copy = value_map(arena);
	for (size_t i = 0; i < value->map.count; i++) {
		const struct value_entry *entry = &value->map.entries[i];
		const struct value *key = answer_safe(arena, entry->key, entry->key_len);

		if (key)
			value_map_put_len(arena, copy, key->text.bytes, key->text.len,
				safe_copy(arena, entry->value, depth + 1));
	}
	return copy;
}

void answer_put(struct answer *answer, const char *key, const struct value *value)
{
	if (value && !value_is(value, VALUE_NIL))
		fill_value(&answer->facts, key, safe_copy(answer->arena, value, 0));
}

/* ---- what a program wrote ------------------------------------------------------------------ */

static struct bytes bytes_of(const struct value *value)
{
	if (value_is(value, VALUE_TEXT) || value_is(value, VALUE_BYTES))
		return (struct bytes){ value->text.bytes, value->text.len };
	return (struct bytes){ "", 0 };
}

static bool is_inside(char byte)
{
	return ((unsigned char)byte & 0xc0U) == 0x80U;
}

/* The longest head of at most `most` bytes that ends between two characters. */
static struct bytes head_of(struct bytes bytes, size_t most)
{
	size_t len = bytes.len < most ? bytes.len : most;

	while (len > 0 && len < bytes.len && most - len < 4 && is_inside(bytes.data[len]))
		len--;
	return (struct bytes){ bytes.data, len };
}

static struct bytes tail_of(struct bytes bytes, size_t most)
{
	size_t at = bytes.len > most ? bytes.len - most : 0;

	for (unsigned i = 0; i < 3 && at > 0 && at < bytes.len && is_inside(bytes.data[at]); i++)
		at++;
	return (struct bytes){ bytes.data + at, bytes.len - at };
}

const char *answer_shorten(struct arena *arena, const struct value *front, const struct value *tail,
	int64_t total, bool *ret_cut)
{
	struct bytes all = bytes_of(front);
	struct bytes end = bytes_of(tail);
	struct bytes head = all;
	struct buf safe;
	const char *text;
	int64_t left_out;

	if (all.len + end.len > HEAD_BYTES + TAIL_BYTES) {
		head = head_of(all, HEAD_BYTES);
		if (end.len == 0)
			end = (struct bytes){ all.data + head.len, all.len - head.len };
		end = tail_of(end, TAIL_BYTES);
	}
	left_out = total - (int64_t)(head.len + end.len);
	*ret_cut = left_out > 0;
	buf_init(&safe, SAFE_MAX);
	(void)safe_append(&safe, SAFE_BLOCK, head.data, head.len);
	if (left_out > 0)
		(void)buf_printf(
			&safe, "\n[... %lld bytes are left out here ...]\n", (long long)left_out);
	(void)safe_append(&safe, SAFE_BLOCK, end.data, end.len);
	text = arena_copy(arena, safe.bytes ? safe.bytes : "", safe.len);
	buf_done(&safe);
	return text ? text : "";
}

/* ---- pictures ------------------------------------------------------------------------------ */

struct value *answer_base64(struct arena *arena, const void *bytes, size_t len)
{
	char *text = arena_alloc(arena, base64_size(len));

	if (!text)
		return NULL;
	(void)base64_write(bytes, len, text);
	return value_text(arena, text);
}

static bool is_picture(const char *type)
{
	for (size_t i = 0; i < COUNT_OF(picture_types); i++) {
		if (type && strcmp(type, picture_types[i]) == 0)
			return true;
	}
	return false;
}

bool answer_picture(struct answer *answer, const char *type, const struct value *bytes)
{
	struct fill item;

	if (!is_picture(type) || !value_is(bytes, VALUE_BYTES))
		return false;
	if (answer->pictures->list.count >= PICTURES_MAX ||
		bytes->text.len > PICTURES_MAX_BYTES - answer->picture_bytes) {
		answer_say(answer,
			"A picture of %zu bytes is left out: it is too large, or one too "
			"many.\n",
			bytes->text.len);
		return false;
	}
	item = fill_start(answer->arena);
	fill_text(&item, "type", "image");
	fill_value(&item, "data", answer_base64(answer->arena, bytes->text.bytes, bytes->text.len));
	fill_text(&item, "mimeType", type);
	answer->picture_bytes += bytes->text.len;
	return value_list_add(answer->arena, answer->pictures, fill_done(&item)) == 0;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static struct value *text_item(struct arena *arena, const char *text, size_t len)
{
	struct fill item = fill_start(arena);

	fill_text(&item, "type", "text");
	fill_value(&item, "text", value_text_len(arena, text, len));
	return fill_done(&item);
}

struct value *answer_finish(struct answer *answer)
{
	struct fill result = fill_start(answer->arena);
	struct value *content = value_list(answer->arena);
	const struct buf *text = &answer->text;

	value_list_add(answer->arena, content,
		text_item(answer->arena, text->bytes ? text->bytes : "", text->len));
	for (size_t i = 0; value_at(answer->pictures, i); i++)
		value_list_add(answer->arena, content, value_at(answer->pictures, i));
	fill_value(&result, "content", content);
	fill_value(&result, "structuredContent", fill_done(&answer->facts));
	fill_bool(&result, "isError", answer->failed);
	return value_ok(answer->arena) ? fill_done(&result) : NULL;
}

struct value *answer_failure(struct arena *arena, const char *format, ...)
{
	struct fill result = fill_start(arena);
	struct value *content = value_list(arena);
	struct value *safe;
	char text[4096];
	va_list args;

	va_start(args, format);
	cut_vprintf(text, sizeof(text), format, args);
	va_end(args);
	safe = answer_safe(arena, text, strlen(text));
	if (safe)
		value_list_add(arena, content, text_item(arena, safe->text.bytes, safe->text.len));
	fill_value(&result, "content", content);
	fill_bool(&result, "isError", true);
	return fill_done(&result);
}
