/*
 * A hash map with byte strings as keys.  The hash is seeded once per process, so that an attacker
 * cannot choose colliding keys.  The map copies keys; the caller owns the values.  The caller also
 * limits the number of entries if that is needed.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct map_slot;

struct map {
	struct map_slot **slots;
	size_t size;
	size_t count;
};

void map_init(struct map *map);
void map_done(struct map *map); /* frees the keys, but not the values */

/* As map_done(), and calls `give_back` for each value first. */
void map_done_with(struct map *map, void (*give_back)(void *value));

/* Returns the value, or NULL when the map does not have the key. */
void *map_get(const struct map *map, const void *key, size_t key_len);

/*
 * Adds or replaces a value.  *ret_old gets the old value, or NULL; ret_old may be NULL.  Returns 0,
 * or -1: no memory.
 */
int map_put(struct map *map, const void *key, size_t key_len, void *value, void **ret_old);

/* Removes the key and returns its value, or NULL. */
void *map_remove(struct map *map, const void *key, size_t key_len);

/*
 * Calls `visit` for each entry until it returns non-zero, and returns that.  `visit` must not
 * change the map.
 */
int map_each(const struct map *map,
	int (*visit)(void *context, const void *key, size_t key_len, void *value), void *context);

/* The map's seeded hash function, for callers with hash tables of their own. */
uint64_t map_hash(const void *key, size_t key_len);
