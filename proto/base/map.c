#include "proto/base/map.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define MAP_SIZE_FIRST ((size_t)16) /* sizes are powers of two */

struct map_slot {
	struct map_slot *next; /* the next slot at the same index of slots[] */
	void *value;
	uint64_t hash;
	size_t key_len;
	char key[];
};

/* ---- the hash: SipHash-1-3, with a secret key -------------------------------------------- */

static uint64_t seed[2];
static pthread_once_t seed_once = PTHREAD_ONCE_INIT;

static void make_seed(void)
{
	struct timespec now;

	if (getrandom(seed, sizeof(seed), GRND_NONBLOCK) == (ssize_t)sizeof(seed))
		return;

	/*
	 * The kernel has no entropy this early after boot.  An address and the time are better than
	 * nothing.
	 */
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	seed[0] = (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15U;
	seed[1] = (uint64_t)(uintptr_t)&now * 0xbf58476d1ce4e5b9U;
}

static inline uint64_t rotate(uint64_t word, unsigned by)
{
	return word << by | word >> (64 - by);
}

struct sip {
	uint64_t a, b, c, d;
};

static inline struct sip mix(struct sip sip)
{
	sip.a += sip.b;
	sip.b = rotate(sip.b, 13) ^ sip.a;
	sip.a = rotate(sip.a, 32);
	sip.c += sip.d;
	sip.d = rotate(sip.d, 16) ^ sip.c;
	sip.a += sip.d;
	sip.d = rotate(sip.d, 21) ^ sip.a;
	sip.c += sip.b;
	sip.b = rotate(sip.b, 17) ^ sip.c;
	sip.c = rotate(sip.c, 32);
	return sip;
}

static inline struct sip absorb(struct sip sip, uint64_t word)
{
	sip.d ^= word;
	sip = mix(sip);
	sip.a ^= word;
	return sip;
}

/* The last 0 to 7 bytes as one word. */
static inline uint64_t tail_word(const char *bytes, size_t len)
{
	uint64_t word = 0;

	for (size_t i = 0; i < len; i++)
		word |= (uint64_t)(uint8_t)bytes[i] << (8 * i);
	return word;
}

uint64_t map_hash(const void *key, size_t key_len)
{
	const char *bytes = key_len > 0 ? key : "";
	struct sip sip;
	uint64_t word;
	size_t at = 0;

	(void)pthread_once(&seed_once, make_seed);
	sip.a = seed[0] ^ 0x736f6d6570736575U;
	sip.b = seed[1] ^ 0x646f72616e646f6dU;
	sip.c = seed[0] ^ 0x6c7967656e657261U;
	sip.d = seed[1] ^ 0x7465646279746573U;

	for (; key_len - at >= sizeof(word); at += sizeof(word)) {
		memcpy(&word, bytes + at, sizeof(word));
		sip = absorb(sip, word);
	}
	sip = absorb(sip, tail_word(bytes + at, key_len - at) | (uint64_t)key_len << 56);

	sip.c ^= 0xff;
	sip = mix(mix(mix(sip)));
	return sip.a ^ sip.b ^ sip.c ^ sip.d;
}

/* ---- the map ----------------------------------------------------------------------------- */

void map_init(struct map *map)
{
	*map = (struct map){ NULL, 0, 0 };
}

static void keep_value(void *value)
{
	(void)value;
}

void map_done(struct map *map)
{
	map_done_with(map, keep_value);
}

void map_done_with(struct map *map, void (*give_back)(void *value))
{
	for (size_t i = 0; i < map->size; i++) {
		struct map_slot *slot = map->slots[i];

		while (slot) {
			struct map_slot *next = slot->next;

			give_back(slot->value);
			free(slot);
			slot = next;
		}
	}
	free(map->slots);
	map_init(map);
}

/* Returns the place of the pointer to the key's slot, or the place where a new one belongs. */
static struct map_slot **find(const struct map *map, const void *key, size_t key_len, uint64_t hash)
{
	struct map_slot **place = &map->slots[hash & (map->size - 1)];

	while (*place) {
		struct map_slot *slot = *place;

		if (slot->hash == hash && slot->key_len == key_len &&
			memcmp(slot->key, key, key_len) == 0)
			break;
		place = &slot->next;
	}
	return place;
}

void *map_get(const struct map *map, const void *key, size_t key_len)
{
	struct map_slot *slot;

	if (map->count == 0)
		return NULL;
	slot = *find(map, key, key_len, map_hash(key, key_len));
	return slot ? slot->value : NULL;
}

static int grow(struct map *map)
{
	size_t size = map->size > 0 ? map->size * 2 : MAP_SIZE_FIRST;
	struct map_slot **slots = calloc(size, sizeof(*slots));

	if (!slots)
		return -1;

	for (size_t i = 0; i < map->size; i++) {
		struct map_slot *slot = map->slots[i];

		while (slot) {
			struct map_slot *next = slot->next;

			slot->next = slots[slot->hash & (size - 1)];
			slots[slot->hash & (size - 1)] = slot;
			slot = next;
		}
	}
	free(map->slots);
	map->slots = slots;
	map->size = size;
	return 0;
}

static struct map_slot *slot_new(const void *key, size_t key_len, uint64_t hash, void *value)
{
	struct map_slot *slot;

	if (key_len > SIZE_MAX - sizeof(*slot))
		return NULL;
	slot = malloc(sizeof(*slot) + key_len);
	if (!slot)
		return NULL;

	slot->next = NULL;
	slot->value = value;
	slot->hash = hash;
	slot->key_len = key_len;
	if (key_len > 0)
		memcpy(slot->key, key, key_len);
	return slot;
}

int map_put(struct map *map, const void *key, size_t key_len, void *value, void **ret_old)
{
	uint64_t hash = map_hash(key, key_len);
	struct map_slot **place;
	void *old = NULL;

	if (map->count >= map->size && grow(map) < 0)
		return -1;

	place = find(map, key, key_len, hash);
	if (*place) {
		old = (*place)->value;
		(*place)->value = value;
	} else {
		*place = slot_new(key, key_len, hash, value);
		if (!*place)
			return -1;
		map->count++;
	}
	if (ret_old)
		*ret_old = old;
	return 0;
}

void *map_remove(struct map *map, const void *key, size_t key_len)
{
	struct map_slot **place;
	struct map_slot *slot;
	void *value;

	if (map->count == 0)
		return NULL;
	place = find(map, key, key_len, map_hash(key, key_len));
	slot = *place;
	if (!slot)
		return NULL;

	*place = slot->next;
	value = slot->value;
	free(slot);
	map->count--;
	return value;
}

int map_each(const struct map *map,
	int (*visit)(void *context, const void *key, size_t key_len, void *value), void *context)
{
	for (size_t i = 0; i < map->size; i++) {
		for (struct map_slot *slot = map->slots[i]; slot; slot = slot->next) {
			int said = visit(context, slot->key, slot->key_len, slot->value);

			if (said != 0)
				return said;
		}
	}
	return 0;
}
