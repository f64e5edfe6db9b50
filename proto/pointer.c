#include "proto/pointer.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/buf.h"
#include "proto/base/utf8.h"

#define POINTER_TEXT_MAX  (64U << 10)
#define POINTER_PARTS_MAX 256

static int add_escaped(struct buf *buf, const char *key, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		int added;

		if (key[i] == '~')
			added = buf_append_text(buf, "~0");
		else if (key[i] == '/')
			added = buf_append_text(buf, "~1");
		else
			added = buf_append_byte(buf, (uint8_t)key[i]);
		if (added < 0)
			return -1;
	}
	return 0;
}

static int add_key(struct buf *buf, const struct place *place)
{
	size_t len = place->key_len;

	if (len <= POINTER_KEY_MAX)
		return add_escaped(buf, place->key, len);
	len = utf8_whole_prefix(place->key, POINTER_KEY_MAX);
	if (add_escaped(buf, place->key, len) < 0)
		return -1;
	return buf_append_text(buf, "...");
}

static int add_part(struct buf *buf, const struct place *place)
{
	if (buf_append_byte(buf, '/') < 0)
		return -1;
	if (place->key)
		return add_key(buf, place);
	return buf_printf(buf, "%zu", place->index);
}

const char *place_text(struct arena *arena, const struct place *place)
{
	__attribute__((cleanup(buf_done))) struct buf buf;
	const struct place *parts[POINTER_PARTS_MAX];
	size_t count = 0;

	buf_init(&buf, POINTER_TEXT_MAX);
	for (; place && count < POINTER_PARTS_MAX; place = place->up)
		parts[count++] = place;
	while (count > 0) {
		if (add_part(&buf, parts[--count]) < 0)
			return NULL;
	}
	return arena_copy(arena, buf.bytes ? buf.bytes : "", buf.len);
}
