/* Properties of values that only schemas need: types, cost of comparison, equal items. */

#include <stdlib.h>
#include <string.h>

#include "proto/base/cleanup.h"
#include "proto/number.h"
#include "proto/schema/schema_rule.h"

#define HASH_START 0xcbf29ce484222325U
#define HASH_STEP  0x100000001b3U

/* The cost of a text rises by one for this many bytes. */
#define BYTES_PER_WEIGHT 64

struct hashed {
	uint64_t hash;
	size_t index;
};

unsigned schema_types_of(const struct value *value)
{
	switch (value->type) {
	case VALUE_NIL:
		return SCHEMA_NULL;
	case VALUE_BOOL:
		return SCHEMA_BOOLEAN;
	case VALUE_INT:
	case VALUE_UINT:
		return SCHEMA_WHOLE | SCHEMA_INTEGER | SCHEMA_NUMBER;
	case VALUE_REAL:
		if (number_is_integer(value))
			return SCHEMA_INTEGER | SCHEMA_NUMBER;
		return number_is(value) ? SCHEMA_NUMBER : 0;
	case VALUE_TEXT:
		return SCHEMA_STRING;
	case VALUE_BYTES:
		return SCHEMA_BYTES;
	case VALUE_LIST:
		return SCHEMA_ARRAY;
	case VALUE_MAP:
		return SCHEMA_OBJECT;
	}
	return 0;
}

uint64_t schema_weight(const struct value *value)
{
	uint64_t weight = 1;

	if (value_is(value, VALUE_TEXT) || value_is(value, VALUE_BYTES))
		return weight + value->text.len / BYTES_PER_WEIGHT;
	if (value_is(value, VALUE_LIST)) {
		for (size_t i = 0; i < value->list.count; i++)
			weight += schema_weight(value->list.items[i]);
	}
	if (value_is(value, VALUE_MAP)) {
		for (size_t i = 0; i < value->map.count; i++)
			weight += 2 + value->map.entries[i].key_len / BYTES_PER_WEIGHT +
				  schema_weight(value->map.entries[i].value);
	}
	return weight;
}

static uint64_t mix(uint64_t hash, uint64_t more)
{
	hash = (hash ^ more) * HASH_STEP;
	return hash ^ hash >> 29;
}

static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * HASH_STEP;
	return mix(hash, len);
}

/* Equal numbers such as 1 and 1.0 have the same hash: both become the nearest double. */
static uint64_t hash_number(const struct value *value)
{
	double real = value->type == VALUE_REAL   ? value->real
		      : value->type == VALUE_UINT ? (double)value->uinteger
						  : (double)value->integer;
	uint64_t bits;

	real += 0.0; /* -0.0 becomes 0 */
	memcpy(&bits, &real, sizeof(bits));
	return mix(HASH_START ^ SCHEMA_NUMBER, bits);
}

static uint64_t hash_value(const struct value *value);

/* The order of a map's keys does not change its hash. */
static uint64_t hash_map(const struct value *value)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < value->map.count; i++) {
		const struct value_entry *entry = &value->map.entries[i];

		sum += mix(hash_bytes(HASH_START, entry->key, entry->key_len),
			hash_value(entry->value));
	}
	return mix(HASH_START ^ SCHEMA_OBJECT, sum);
}

static uint64_t hash_value(const struct value *value)
{
	uint64_t hash = mix(HASH_START, schema_types_of(value));

	switch (value->type) {
	case VALUE_INT:
	case VALUE_UINT:
	case VALUE_REAL:
		return hash_number(value);
	case VALUE_BOOL:
		return mix(hash, value->boolean);
	case VALUE_TEXT:
	case VALUE_BYTES:
		return hash_bytes(hash, value->text.bytes, value->text.len);
	case VALUE_LIST:
		for (size_t i = 0; i < value->list.count; i++)
			hash = mix(hash, hash_value(value->list.items[i]));
		return hash;
	case VALUE_MAP:
		return hash_map(value);
	case VALUE_NIL:
		break;
	}
	return hash;
}

static int compare_hashed(const void *left, const void *right)
{
	const struct hashed *a = left, *b = right;

	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static bool spend(uint64_t *work, uint64_t cost)
{
	bool enough = cost <= *work;

	*work = enough ? *work - cost : 0;
	return enough;
}

/* Compares one item with the following items of the same hash. */
static int find_twin_of(const struct value *list, const struct hashed *rows, size_t at,
	uint64_t *work, size_t *ret_second)
{
	const struct value *item = list->list.items[rows[at].index];

	for (size_t i = at + 1; i < list->list.count && rows[i].hash == rows[at].hash; i++) {
		if (!spend(work, schema_weight(item)))
			return -1;
		if (value_equal(item, list->list.items[rows[i].index])) {
			*ret_second = rows[i].index;
			return 1;
		}
	}
	return 0;
}

int schema_find_twins(
	const struct value *list, uint64_t *work, size_t *ret_first, size_t *ret_second)
{
	auto_free struct hashed *rows = NULL;
	size_t count = list->list.count;

	if (count < 2)
		return 0;
	if (!spend(work, 2 * schema_weight(list)))
		return -1;
	rows = calloc(count, sizeof(*rows));
	if (!rows)
		return -1;
	for (size_t i = 0; i < count; i++)
		rows[i] = (struct hashed){ hash_value(list->list.items[i]), i };
	qsort(rows, count, sizeof(rows[0]), compare_hashed);
	for (size_t i = 0; i + 1 < count; i++) {
		int answer = find_twin_of(list, rows, i, work, ret_second);

		*ret_first = rows[i].index;
		if (answer)
			return answer;
	}
	return 0;
}
