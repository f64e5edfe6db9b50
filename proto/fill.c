#include "proto/fill.h"

struct fill fill_start(struct arena *arena)
{
	return (struct fill){ arena, value_map(arena), false };
}

struct value *fill_done(const struct fill *fill)
{
	return fill->failed ? NULL : fill->map;
}

void fill_value(struct fill *fill, const char *key, struct value *value)
{
	if (!fill->failed && value_map_put(fill->arena, fill->map, key, value) < 0)
		fill->failed = true;
}

void fill_text(struct fill *fill, const char *key, const char *text)
{
	fill_value(fill, key, value_text(fill->arena, text ? text : ""));
}

void fill_optional_text(struct fill *fill, const char *key, const char *text)
{
	if (text)
		fill_text(fill, key, text);
}

void fill_int(struct fill *fill, const char *key, int64_t integer)
{
	fill_value(fill, key, value_int(fill->arena, integer));
}

void fill_uint(struct fill *fill, const char *key, uint64_t integer)
{
	fill_value(fill, key, value_uint(fill->arena, integer));
}

void fill_bool(struct fill *fill, const char *key, bool boolean)
{
	fill_value(fill, key, value_bool(fill->arena, boolean));
}

void fill_blob(struct fill *fill, const char *key, struct bytes bytes)
{
	fill_value(fill, key, value_blob_borrowed(fill->arena, bytes.data, bytes.len));
}

void fill_shared(struct fill *fill, const char *key, const struct value *value)
{
	struct value *copy;

	if (!value)
		return;
	copy = arena_new(fill->arena, struct value);
	if (copy)
		*copy = *value;
	fill_value(fill, key, copy);
}

void fill_list(struct fill *fill, const char *key, size_t count, const void *items,
	struct value *(*make)(struct arena *arena, const void *items, size_t index))
{
	struct value *list = value_list(fill->arena);

	for (size_t i = 0; i < count && !fill->failed; i++) {
		if (value_list_add(fill->arena, list, make(fill->arena, items, i)) < 0)
			fill->failed = true;
	}
	fill_value(fill, key, list);
}
