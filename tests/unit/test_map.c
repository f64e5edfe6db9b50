#include <stdio.h>
#include <string.h>

#include "proto/base/map.h"
#include "tests/check.h"
#include "tests/fault.h"

#define COUNT 5000

static int numbers[COUNT];

static size_t key_of(char *key, size_t size, int number)
{
	return (size_t)snprintf(key, size, "key-%d", number);
}

static int put_number(struct map *map, int number)
{
	char key[32];
	size_t len = key_of(key, sizeof(key), number);

	return map_put(map, key, len, &numbers[number], NULL);
}

static int *get_number(const struct map *map, int number)
{
	char key[32];
	size_t len = key_of(key, sizeof(key), number);

	return map_get(map, key, len);
}

TEST(what_was_put_is_found_again)
{
	struct map map;
	bool good = true;

	map_init(&map);
	for (int i = 0; i < COUNT; i++)
		good = good && put_number(&map, i) == 0;
	for (int i = 0; i < COUNT; i++)
		good = good && get_number(&map, i) == &numbers[i];
	good = good && map.count == COUNT && !map_get(&map, "key-", 4) && !map_get(&map, "", 0);
	map_done(&map);
	map_done(&map);
	CHECK(good);
}

TEST(putting_again_replaces_and_gives_the_old_value)
{
	struct map map;
	void *old = &map;
	bool good;

	map_init(&map);
	good = map_put(&map, "k", 1, &numbers[1], &old) == 0 && !old;
	good = good && map_put(&map, "k", 1, &numbers[2], &old) == 0 && old == &numbers[1];
	good = good && map.count == 1 && map_get(&map, "k", 1) == &numbers[2];
	map_done(&map);
	CHECK(good);
}

TEST(removed_keys_are_gone_and_the_others_stay)
{
	struct map map;
	char key[32];
	bool good = true;

	map_init(&map);
	good = good && !map_remove(&map, "x", 1);
	for (int i = 0; i < COUNT; i++)
		good = good && put_number(&map, i) == 0;
	for (int i = 0; i < COUNT; i += 2)
		good = good && map_remove(&map, key, key_of(key, sizeof(key), i)) == &numbers[i];
	good = good && map.count == COUNT / 2 && !map_remove(&map, "key-0", 5);
	for (int i = 0; i < COUNT; i++)
		good = good && get_number(&map, i) == (i % 2 ? &numbers[i] : NULL);
	map_done(&map);
	CHECK(good);
}

TEST(keys_are_bytes_and_may_be_empty_or_hold_nul)
{
	struct map map;
	bool good;

	map_init(&map);
	good = map_put(&map, "a\0b", 3, &numbers[1], NULL) == 0;
	good = good && map_put(&map, "a\0c", 3, &numbers[2], NULL) == 0;
	good = good && map_put(&map, NULL, 0, &numbers[3], NULL) == 0;
	good = good && map_get(&map, "a\0b", 3) == &numbers[1] &&
	       map_get(&map, "a\0c", 3) == &numbers[2] && map_get(&map, "", 0) == &numbers[3];
	map_done(&map);
	CHECK(good);
}

static int count_until(void *context, const void *key, size_t key_len, void *value)
{
	int *left = context;

	(void)key;
	(void)value;
	return key_len > 0 && --*left == 0 ? 77 : 0;
}

TEST(a_visit_sees_each_entry_and_can_stop)
{
	struct map map;
	int all = COUNT + 1;
	int some = 10;
	int said_all;
	int said_some;

	map_init(&map);
	for (int i = 0; i < COUNT; i++)
		CHECK(put_number(&map, i) == 0);
	said_all = map_each(&map, count_until, &all);
	said_some = map_each(&map, count_until, &some);
	map_done(&map);
	CHECK_EQ_INT(said_all, 0);
	CHECK_EQ_INT(all, 1);
	CHECK_EQ_INT(said_some, 77);
	CHECK_EQ_INT(some, 0);
}

static int given_back;

static void count_back(void *value)
{
	given_back += value != NULL;
}

TEST(values_can_be_given_back_with_the_keys)
{
	struct map map;

	map_init(&map);
	for (int i = 0; i < COUNT; i++)
		CHECK(put_number(&map, i) == 0);
	given_back = 0;
	map_done_with(&map, count_back);
	CHECK_EQ_INT(given_back, COUNT);
	CHECK_EQ_INT(map.count, 0);
}

TEST(the_hash_depends_on_every_byte_and_on_the_length)
{
	char key[40] = { 0 };
	uint64_t empty = map_hash(key, 0);

	for (size_t len = 1; len < sizeof(key); len++) {
		uint64_t before = map_hash(key, len);

		CHECK(before != empty);
		CHECK(before != map_hash(key, len - 1));
		for (size_t i = 0; i < len; i++) {
			key[i] = 1;
			CHECK(map_hash(key, len) != before);
			key[i] = 0;
		}
		CHECK(map_hash(key, len) == before);
	}
}

TEST(a_map_without_memory_keeps_what_it_has)
{
	FAULT_LOOP(FAULT_ALLOC) {
		struct map map;
		size_t count = 0;
		bool good = true;

		map_init(&map);
		for (int i = 0; i < 40; i++)
			count += put_number(&map, i) == 0;
		good = map.count == count && (count == 40 || fault_hit());
		for (int i = 0; i < 40; i++)
			count -= get_number(&map, i) != NULL;
		map_done(&map);
		CHECK(good && count == 0);
	}
}
