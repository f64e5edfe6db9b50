/*
 * A hash map keyed by bytes, seeded once per process so that nobody outside can choose
 * collisions.  Keys are copied; values are the caller's.  A ceiling on the count belongs to the
 * caller.
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
void map_done(struct map *map); /* frees the keys; values are the caller's business */

/* The same, with each value given to `give_back` before. */
void map_done_with(struct map *map, void (*give_back)(void *value));

/* NULL when the key is not there. */
void *map_get(const struct map *map, const void *key, size_t key_len);

/* Puts or replaces; the old value, if any, comes back through ret_old (may be NULL).  -1: memory. */
int map_put(struct map *map, const void *key, size_t key_len, void *value, void **ret_old);

/* Removes and returns the value, or NULL. */
void *map_remove(struct map *map, const void *key, size_t key_len);

/* Calls `visit` for each entry until it returns non-zero, which is returned.  No changes meanwhile. */
int map_each(const struct map *map,
	int (*visit)(void *context, const void *key, size_t key_len, void *value), void *context);

/* The seeded hash behind the map, for tables of one's own. */
uint64_t map_hash(const void *key, size_t key_len);
