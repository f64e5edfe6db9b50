#include "proto/value.h"

#include <string.h>

#include "proto/base/container.h"
#include "proto/base/map.h"
#include "proto/base/utf8.h"
#include "proto/number.h"

#define ROOM_FIRST      ((size_t)4)
#define INDEX_COUNT_MIN ((size_t)16) /* smaller maps are compared without an index */

static const char *const type_words[] = {
	[VALUE_NIL] = "nil",
	[VALUE_BOOL] = "bool",
	[VALUE_INT] = "int",
	[VALUE_UINT] = "int",
	[VALUE_REAL] = "real",
	[VALUE_TEXT] = "str",
	[VALUE_BYTES] = "bin",
	[VALUE_LIST] = "list",
	[VALUE_MAP] = "map",
};

const char *value_type_word(const struct value *value)
{
	return value ? type_words[value->type] : type_words[VALUE_NIL];
}

/* ---- builders ----------------------------------------------------------------------------- */

static struct value *value_of(struct arena *arena, enum value_type type)
{
	struct value *value = arena_new(arena, struct value);

	if (value)
		value->type = type;
	return value;
}

struct value *value_nil(struct arena *arena)
{
	return value_of(arena, VALUE_NIL);
}

struct value *value_bool(struct arena *arena, bool boolean)
{
	struct value *value = value_of(arena, VALUE_BOOL);

	if (value)
		value->boolean = boolean;
	return value;
}

struct value *value_int(struct arena *arena, int64_t integer)
{
	struct value *value = value_of(arena, VALUE_INT);

	if (value)
		value->integer = integer;
	return value;
}

struct value *value_uint(struct arena *arena, uint64_t integer)
{
	struct value *value;

	if (integer <= INT64_MAX)
		return value_int(arena, (int64_t)integer);
	value = value_of(arena, VALUE_UINT);
	if (value)
		value->uinteger = integer;
	return value;
}

struct value *value_real(struct arena *arena, double real)
{
	struct value *value = value_of(arena, VALUE_REAL);

	if (value)
		value->real = real;
	return value;
}

/* Does not copy `bytes`.  NULL means that the caller's copy failed. */
static struct value *bytes_of(
	struct arena *arena, enum value_type type, const char *bytes, size_t len)
{
	struct value *value = bytes ? value_of(arena, type) : NULL;

	if (!value)
		return NULL;
	value->text.bytes = bytes;
	value->text.len = len;
	return value;
}

struct value *value_text(struct arena *arena, const char *text)
{
	return text ? value_text_len(arena, text, strlen(text)) : value_nil(arena);
}

struct value *value_text_len(struct arena *arena, const char *text, size_t len)
{
	enum value_type type = utf8_is_valid(text, len) ? VALUE_TEXT : VALUE_BYTES;

	return bytes_of(arena, type, arena_copy(arena, text, len), len);
}

struct value *value_bytes(struct arena *arena, const void *bytes, size_t len)
{
	return bytes_of(arena, VALUE_BYTES, arena_copy(arena, bytes, len), len);
}

struct value *value_blob_borrowed(struct arena *arena, const char *bytes, size_t len)
{
	enum value_type type = utf8_is_valid(bytes, len) ? VALUE_TEXT : VALUE_BYTES;
	struct value *value = bytes_of(arena, type, len > 0 ? bytes : "", len);

	if (value)
		value->text.open = true;
	return value;
}

struct value *value_list(struct arena *arena)
{
	return value_of(arena, VALUE_LIST);
}

struct value *value_map(struct arena *arena)
{
	return value_of(arena, VALUE_MAP);
}

static int refuse(struct arena *arena)
{
	arena->failed = true;
	return -1;
}

/* Makes a larger copy of an array.  The old one stays in the arena. */
static void *grown(struct arena *arena, const void *items, size_t count, size_t item_bytes)
{
	size_t room = count > 0 ? count * 2 : ROOM_FIRST;
	void *larger = arena_calloc(arena, room, item_bytes);

	if (larger && count > 0)
		memcpy(larger, items, count * item_bytes);
	return larger;
}

int value_list_add(struct arena *arena, struct value *list, struct value *item)
{
	if (!item || !value_is(list, VALUE_LIST))
		return refuse(arena);

	if (list->list.count == list->list.size) {
		void *items = grown(
			arena, list->list.items, list->list.count, sizeof(list->list.items[0]));

		if (!items)
			return -1;
		list->list.items = items;
		list->list.size = list->list.count > 0 ? list->list.count * 2 : ROOM_FIRST;
	}
	list->list.items[list->list.count++] = item;
	return 0;
}

int value_map_put(struct arena *arena, struct value *map, const char *key, struct value *value)
{
	return value_map_put_len(arena, map, key, strlen(key), value);
}

int value_map_put_len(struct arena *arena, struct value *map, const char *key, size_t key_len,
	struct value *value)
{
	const char *copy;

	if (!value || !value_is(map, VALUE_MAP) || !utf8_is_valid(key, key_len))
		return refuse(arena);
	copy = arena_copy(arena, key, key_len);
	if (!copy)
		return -1;

	if (map->map.count == map->map.size) {
		void *entries =
			grown(arena, map->map.entries, map->map.count, sizeof(map->map.entries[0]));

		if (!entries)
			return -1;
		map->map.entries = entries;
		map->map.size = map->map.count > 0 ? map->map.count * 2 : ROOM_FIRST;
	}
	map->map.entries[map->map.count++] = (struct value_entry){ copy, key_len, value };
	return 0;
}

/* ---- copies ------------------------------------------------------------------------------- */

static struct value *copy_list(struct arena *arena, const struct value *list)
{
	struct value *copy = value_list(arena);

	for (size_t i = 0; i < list->list.count; i++)
		if (value_list_add(arena, copy, value_copy(arena, list->list.items[i])) < 0)
			return NULL;
	return copy;
}

static struct value *copy_map(struct arena *arena, const struct value *map)
{
	struct value *copy = value_map(arena);

	for (size_t i = 0; i < map->map.count; i++) {
		const struct value_entry *entry = &map->map.entries[i];

		if (value_map_put_len(arena, copy, entry->key, entry->key_len,
			    value_copy(arena, entry->value)) < 0)
			return NULL;
	}
	return copy;
}

static struct value *copy_plain(struct arena *arena, const struct value *value)
{
	struct value *copy = value_nil(arena);

	if (copy)
		*copy = *value;
	return copy;
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than a message may nest */
struct value *value_copy(struct arena *arena, const struct value *value)
{
	if (!value)
		return NULL;
	switch (value->type) {
	case VALUE_TEXT:
		return value_text_len(arena, value->text.bytes, value->text.len);
	case VALUE_BYTES:
		return value_bytes(arena, value->text.bytes, value->text.len);
	case VALUE_LIST:
		return copy_list(arena, value);
	case VALUE_MAP:
		return copy_map(arena, value);
	case VALUE_NIL:
	case VALUE_BOOL:
	case VALUE_INT:
	case VALUE_UINT:
	case VALUE_REAL:
		break;
	}
	return copy_plain(arena, value);
}

/* ---- readers ------------------------------------------------------------------------------ */

bool value_is(const struct value *value, enum value_type type)
{
	return value && value->type == type;
}

struct value *value_get(const struct value *map, const char *key)
{
	return value_get_len(map, key, strlen(key));
}

static bool entry_has_key(const struct value_entry *entry, const char *key, size_t key_len)
{
	return entry->key_len == key_len && (key_len == 0 || memcmp(entry->key, key, key_len) == 0);
}

struct value *value_get_len(const struct value *map, const char *key, size_t key_len)
{
	if (!value_is(map, VALUE_MAP))
		return NULL;
	for (size_t i = 0; i < map->map.count; i++)
		if (entry_has_key(&map->map.entries[i], key, key_len))
			return map->map.entries[i].value;
	return NULL;
}

struct value *value_at(const struct value *list, size_t index)
{
	if (!value_is(list, VALUE_LIST) || index >= list->list.count)
		return NULL;
	return list->list.items[index];
}

const char *value_as_text(const struct value *value)
{
	if (!value_is(value, VALUE_TEXT) || value->text.open ||
		memchr(value->text.bytes, '\0', value->text.len))
		return NULL;
	return value->text.bytes;
}

int64_t value_as_int(const struct value *value, int64_t otherwise)
{
	return value_is(value, VALUE_INT) ? value->integer : otherwise;
}

bool value_as_bool(const struct value *value, bool otherwise)
{
	return value_is(value, VALUE_BOOL) ? value->boolean : otherwise;
}

/* ---- equality ----------------------------------------------------------------------------- */

static bool texts_equal(const struct value *a, const struct value *b)
{
	return a->text.len == b->text.len &&
	       (a->text.len == 0 || memcmp(a->text.bytes, b->text.bytes, a->text.len) == 0);
}

static bool lists_equal(const struct value *a, const struct value *b)
{
	if (a->list.count != b->list.count)
		return false;
	for (size_t i = 0; i < a->list.count; i++)
		if (!value_equal(a->list.items[i], b->list.items[i]))
			return false;
	return true;
}

/*
 * Builds an index of a large map, so that comparing is not quadratic.  Without memory the index
 * stays empty, and look_up() searches the map.
 */
static void index_map(struct map *index, const struct value *map)
{
	if (map->map.count < INDEX_COUNT_MIN)
		return;
	for (size_t i = 0; i < map->map.count; i++) {
		const struct value_entry *entry = &map->map.entries[i];

		if (map_put(index, entry->key, entry->key_len, entry->value, NULL) < 0) {
			map_done(index);
			return;
		}
	}
}

static const struct value *look_up(
	const struct map *index, const struct value *map, const struct value_entry *entry)
{
	if (index->count > 0)
		return map_get(index, entry->key, entry->key_len);
	return value_get_len(map, entry->key, entry->key_len);
}

/* Keys are unique and the counts are equal, so it is enough to look up the keys of `a` in `b`. */
static bool maps_equal(const struct value *a, const struct value *b)
{
	struct map index;
	bool equal = a->map.count == b->map.count;

	if (!equal)
		return false;
	map_init(&index);
	index_map(&index, b);
	for (size_t i = 0; equal && i < a->map.count; i++) {
		const struct value_entry *entry = &a->map.entries[i];
		const struct value *other = look_up(&index, b, entry);

		equal = other && value_equal(entry->value, other);
	}
	map_done(&index);
	return equal;
}

bool value_equal(const struct value *a, const struct value *b)
{
	if (!a || !b)
		return a == b;
	if (number_is(a) && number_is(b))
		return number_compare(a, b) == 0;
	if (a->type != b->type)
		return false;

	switch (a->type) {
	case VALUE_BOOL:
		return a->boolean == b->boolean;
	case VALUE_TEXT:
	case VALUE_BYTES:
		return texts_equal(a, b);
	case VALUE_LIST:
		return lists_equal(a, b);
	case VALUE_MAP:
		return maps_equal(a, b);
	case VALUE_REAL:
		return a->real == b->real; /* not finite */
	case VALUE_NIL:
	case VALUE_INT:
	case VALUE_UINT:
		break;
	}
	return true;
}
