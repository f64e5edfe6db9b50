/*
 * The representation of all data from outside: nil, bool, integer, real, text, bytes, list, map.
 * Values live in an arena and do not change after they are built.
 *
 * VALUE_INT holds int64_t.  VALUE_UINT holds only integers above INT64_MAX.  Text is valid UTF-8
 * and may have NUL bytes, so use `len`.  Map keys are text, unique, and in order of arrival.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"

enum value_type {
	VALUE_NIL,
	VALUE_BOOL,
	VALUE_INT,
	VALUE_UINT,
	VALUE_REAL,
	VALUE_TEXT,
	VALUE_BYTES,
	VALUE_LIST,
	VALUE_MAP,
};

struct value;
struct value_entry;

/* Borrowed bytes. */
struct bytes {
	const char *data;
	size_t len;
};

struct value {
	enum value_type type;
	union {
		bool boolean;
		int64_t integer;
		uint64_t uinteger;
		double real;
		struct {
			const char *bytes; /* NUL-terminated, too, unless `open` */
			size_t len;
			bool open; /* borrowed: the byte after it must not be read */
		} text;            /* VALUE_TEXT and VALUE_BYTES */
		struct {
			struct value **items;
			size_t count;
			size_t size;
		} list;
		struct {
			struct value_entry *entries;
			size_t count;
			size_t size;
		} map;
	};
};

struct value_entry {
	const char *key;
	size_t key_len;
	struct value *value;
};

/*
 * Returns the stable word for a type, as users know it: "nil", "bool", "int", "real", "str", "bin",
 * "list", "map".
 */
const char *value_type_word(const struct value *value);

/*
 * Builders.  All of them allocate in `arena` and return NULL when it is full.  value_map_put() and
 * value_list_add() accept NULL as the item, and then fail, too.  On failure they return -1 and mark
 * the arena.  So a chain of calls needs only one check at its end; see value_ok().
 */
struct value *value_nil(struct arena *arena);
struct value *value_bool(struct arena *arena, bool boolean);
struct value *value_int(struct arena *arena, int64_t integer);
struct value *value_uint(struct arena *arena, uint64_t integer); /* INT when it fits */
struct value *value_real(struct arena *arena, double real);
/* Text that is not valid UTF-8 becomes VALUE_BYTES, so every value can be sent. */
struct value *value_text(
	struct arena *arena, const char *text); /* NUL-terminated, copied; NULL gives nil */
struct value *value_text_len(struct arena *arena, const char *text, size_t len); /* copied */
struct value *value_bytes(struct arena *arena, const void *bytes, size_t len);   /* copied */
/*
 * Makes text when the bytes are valid UTF-8, else bytes.  It does not copy: `bytes` must live as
 * long as the arena.  No NUL follows them, so value_as_text() returns NULL.  Use such a value only
 * for sending.
 */
struct value *value_blob_borrowed(struct arena *arena, const char *bytes, size_t len);
struct value *value_list(struct arena *arena);
struct value *value_map(struct arena *arena);
int value_list_add(struct arena *arena, struct value *list, struct value *item);
/* Does not replace: the caller must put each key only once.  Copies `key`. */
int value_map_put(struct arena *arena, struct value *map, const char *key, struct value *value);
int value_map_put_len(struct arena *arena, struct value *map, const char *key, size_t key_len,
	struct value *value);

/* Copies the value with everything in it.  NULL: the arena is full, or `value` is NULL. */
struct value *value_copy(struct arena *arena, const struct value *value);

/* Whether no allocation and no builder has failed in this arena. */
static inline bool value_ok(const struct arena *arena)
{
	return !arena->failed;
}

/* Readers.  All accept NULL and values of another type. */
struct value *value_get(
	const struct value *map, const char *key); /* NULL: not a map or no such key */
struct value *value_get_len(const struct value *map, const char *key, size_t key_len);
struct value *value_at(const struct value *list, size_t index);
bool value_is(const struct value *value, enum value_type type);
/* Returns the text of a VALUE_TEXT that is NUL-terminated and has no inner NUL, else NULL. */
const char *value_as_text(const struct value *value);
int64_t value_as_int(const struct value *value, int64_t otherwise);
bool value_as_bool(const struct value *value, bool otherwise);

/*
 * Equality as JSON Schema defines it: 1 equals 1.0, true does not equal 1, and the order of a map
 * does not matter.
 */
bool value_equal(const struct value *a, const struct value *b);
