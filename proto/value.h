/*
 * The one form in which data from outside is looked at: nil, bool, integer, real, text, bytes,
 * list, map.  Values live in an arena and are never changed after they are built.
 *
 * Integers: VALUE_INT holds int64_t; VALUE_UINT holds only what is above INT64_MAX.  Text is valid
 * UTF-8; it may hold NUL bytes, so `len` counts.  Map keys are text, unique, in order of arrival.
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

/* Bytes that lie somewhere else. */
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
			bool open; /* borrowed: what stands behind it is not ours to read */
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

/* Stable word for a type as users know it: "nil", "bool", "int", "real", "str", "bin", "list", "map". */
const char *value_type_word(const struct value *value);

/*
 * Builders.  All allocate in `arena` and return NULL when it is full; the builders of lists and
 * maps accept NULL for what they are to hold and then fail too, so a chain of calls needs one
 * check at its end (value_map_put() and value_list_add() return -1 on failure and mark the
 * arena; see value_ok()).
 */
struct value *value_nil(struct arena *arena);
struct value *value_bool(struct arena *arena, bool boolean);
struct value *value_int(struct arena *arena, int64_t integer);
struct value *value_uint(struct arena *arena, uint64_t integer); /* INT when it fits */
struct value *value_real(struct arena *arena, double real);
/* What is not valid UTF-8 becomes VALUE_BYTES, so a value can always be sent. */
struct value *value_text(
	struct arena *arena, const char *text); /* NUL-terminated, copied; NULL gives nil */
struct value *value_text_len(struct arena *arena, const char *text, size_t len); /* copied */
struct value *value_bytes(struct arena *arena, const void *bytes, size_t len);   /* copied */
/*
 * Text when the bytes are valid UTF-8, else bytes.  Borrows: `bytes` must live as long as the arena.
 * No NUL stands behind them, so value_as_text() gives NULL: such a value is for sending.
 */
struct value *value_blob_borrowed(struct arena *arena, const char *bytes, size_t len);
struct value *value_list(struct arena *arena);
struct value *value_map(struct arena *arena);
int value_list_add(struct arena *arena, struct value *list, struct value *item);
/* Replaces nothing: the caller puts each key once.  `key` is copied. */
int value_map_put(struct arena *arena, struct value *map, const char *key, struct value *value);
int value_map_put_len(struct arena *arena, struct value *map, const char *key, size_t key_len,
	struct value *value);

/* Whether everything that was built in this arena was built whole. */
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
/* The text of a VALUE_TEXT that is terminated and has no inner NUL, else NULL. */
const char *value_as_text(const struct value *value);
int64_t value_as_int(const struct value *value, int64_t otherwise);
bool value_as_bool(const struct value *value, bool otherwise);

/* Equality as JSON Schema sees it: 1 equals 1.0, true does not equal 1; map order does not count. */
bool value_equal(const struct value *a, const struct value *b);
