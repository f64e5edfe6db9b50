/*
 * A map being filled, key by key: the chain of puts needs one look at its end.  After a put that
 * found no room, or was given NULL, all others do nothing and fill_done() gives NULL.
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

/* Text when the bytes are UTF-8, else bytes.  Keeps them as long as the map is used. */
void fill_blob(struct fill *fill, const char *key, struct bytes bytes);

/* The same value under another roof: its node is copied, what it holds is shared.  NULL: no key. */
void fill_shared(struct fill *fill, const char *key, const struct value *value);

/* A list of `count` items, each made by `make` from item number i of `items`. */
void fill_list(struct fill *fill, const char *key, size_t count, const void *items,
	struct value *(*make)(struct arena *arena, const void *items, size_t index));
