/*
 * Fills a map key by key, with a single check at the end.  After a put that got no memory, or a
 * value that is NULL, all later puts do nothing and fill_done() returns NULL.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/job/job.h"
#include "proto/value.h"

struct fill {
	struct arena *arena;
	struct value *map;
	bool failed;
};

struct fill fill_start(struct arena *arena);
struct value *fill_done(const struct fill *fill);

void fill_value(struct fill *fill, const char *key, struct value *value);
void fill_text(struct fill *fill, const char *key, const char *text); /* NULL counts as "" */
void fill_optional_text(struct fill *fill, const char *key, const char *text); /* NULL: no key */
void fill_int(struct fill *fill, const char *key, int64_t integer);
void fill_uint(struct fill *fill, const char *key, uint64_t integer);
void fill_bool(struct fill *fill, const char *key, bool boolean);

/*
 * Puts text when the bytes are UTF-8, else bytes.  The map points to them, so they must live as
 * long as the map.
 */
void fill_blob(struct fill *fill, const char *key, struct bytes bytes);

/* Puts a shallow copy of the value: its items are shared.  NULL: no key. */
void fill_shared(struct fill *fill, const char *key, const struct value *value);

/* Puts a list of `count` items.  `make` makes item number `index` from `items`. */
void fill_list(struct fill *fill, const char *key, size_t count, const void *items,
	struct value *(*make)(struct arena *arena, const void *items, size_t index));
