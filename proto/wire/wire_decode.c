/* The decoder of wire.h: turns one whole message into values in an arena. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/map.h"
#include "proto/base/utf8.h"
#include "proto/wire/wire.h"
#include "proto/wire/wire_head.h"

/* Up to this many keys, each key is compared with all keys before it. */
#define KEYS_COMPARED_MAX ((size_t)8)

/*
 * The decoder builds values straight from the bytes.  msgpack-c would first build its own tree, and
 * would reserve as much memory as a message declares.
 */
struct decoder {
	struct arena *arena;
	char *bytes;
	size_t len;
	size_t at;
	unsigned depth;
	/* place for a NUL, which is written after the head at that place has been read */
	char *nul;
	struct wire_fault *fault;
	struct err *err;
};

static int refuse(struct decoder *dec, enum err_code code, const char *reason, const char *words)
{
	if (dec->fault)
		*dec->fault = (struct wire_fault){ reason, dec->at };
	return err_set(dec->err, code, "%s (byte %zu)", words, dec->at);
}

static int refuse_memory(struct decoder *dec)
{
	return refuse(dec, ERR_MEMORY, "memory", "message needs more memory than it may have");
}

/*
 * Every object takes at least one byte, so a count above the number of remaining bytes is invalid.
 */
static int read_head(struct decoder *dec, struct wire_head *head)
{
	size_t left = dec->len - dec->at;

	if (!wire_head_read(dec->bytes + dec->at, left, head))
		return refuse(dec, ERR_INVALID, "syntax", "message ends inside an object");
	if (head->form == WIRE_RESERVED)
		return refuse(dec, ERR_INVALID, "syntax", "not msgpack");
	left -= head->len;
	if (wire_head_body_len(head) > left || wire_head_children(head) > left)
		return refuse(dec, ERR_INVALID, "syntax", "message ends inside an object");

	dec->at += head->len;
	if (dec->nul) {
		*dec->nul = '\0';
		dec->nul = NULL;
	}
	return 0;
}

/* Returns the bytes after a head. */
static const char *take_bytes(struct decoder *dec, size_t len)
{
	const char *bytes = dec->bytes + dec->at;

	dec->nul = dec->bytes + dec->at + len;
	dec->at += len;
	return bytes;
}

static const char *take_text(struct decoder *dec, const struct wire_head *head)
{
	if (!utf8_is_valid(dec->bytes + dec->at, (size_t)head->number)) {
		(void)refuse(dec, ERR_INVALID, "utf8", "text is not UTF-8");
		return NULL;
	}
	return take_bytes(dec, (size_t)head->number);
}

static int decode_blob(struct decoder *dec, const struct wire_head *head, struct value *value)
{
	value->type = head->form == WIRE_STR ? VALUE_TEXT : VALUE_BYTES;
	value->text.len = (size_t)head->number;
	if (head->form == WIRE_STR)
		value->text.bytes = take_text(dec, head);
	else
		value->text.bytes = take_bytes(dec, value->text.len);
	return value->text.bytes ? 0 : -1;
}

static int decode_integer(const struct wire_head *head, struct value *value)
{
	if (head->form == WIRE_UINT && head->number > INT64_MAX) {
		value->type = VALUE_UINT;
		value->uinteger = head->number;
	} else {
		value->type = VALUE_INT;
		value->integer = (int64_t)head->number;
	}
	return 0;
}

static int decode_real(struct decoder *dec, const struct wire_head *head, struct value *value)
{
	uint32_t narrow = (uint32_t)head->number;
	float single;

	value->type = VALUE_REAL;
	if (head->number_len == sizeof(narrow)) {
		memcpy(&single, &narrow, sizeof(single));
		value->real = (double)single;
	} else {
		memcpy(&value->real, &head->number, sizeof(value->real));
	}
	if (!isfinite(value->real))
		return refuse(dec, ERR_INVALID, "range", "a number is infinite or not a number");
	return 0;
}

static int decode_object(struct decoder *dec, struct value *value);

static int decode_list(struct decoder *dec, const struct wire_head *head, struct value *value)
{
	size_t count = (size_t)head->number;
	struct value *items;

	value->type = VALUE_LIST;
	if (count == 0)
		return 0;
	value->list.items = arena_array(dec->arena, struct value *, count);
	items = arena_array(dec->arena, struct value, count);
	if (!value->list.items || !items)
		return refuse_memory(dec);

	value->list.size = count;
	for (size_t i = 0; i < count; i++) {
		value->list.items[i] = &items[i];
		if (decode_object(dec, &items[i]) < 0)
			return -1;
		value->list.count++;
	}
	return 0;
}

static int decode_key(struct decoder *dec, struct value_entry *entry)
{
	struct wire_head head;

	if (read_head(dec, &head) < 0)
		return -1;
	if (head.form != WIRE_STR)
		return refuse(dec, ERR_INVALID, "type", "a map key is not text");
	entry->key_len = (size_t)head.number;
	entry->key = take_text(dec, &head);
	return entry->key ? 0 : -1;
}

static bool same_key(const struct value_entry *a, const struct value_entry *b)
{
	return a->key_len == b->key_len && memcmp(a->key, b->key, a->key_len) == 0;
}

/* For small maps: compares each key with those before it. */
static bool few_keys_differ(const struct value_entry *entries, size_t count)
{
	for (size_t i = 1; i < count; i++)
		for (size_t j = 0; j < i; j++)
			if (same_key(&entries[i], &entries[j]))
				return false;
	return true;
}

/*
 * Puts the number of an entry (from 1) into a hash table; 0 marks an empty place.  The table has at
 * least twice as many places as entries.  Returns false when the key is already in the table.
 */
static bool key_is_new(
	uint32_t *table, size_t mask, const struct value_entry *entries, uint32_t number)
{
	const struct value_entry *entry = &entries[number - 1];
	size_t place = map_hash(entry->key, entry->key_len) & mask;

	for (; table[place] != 0; place = (place + 1) & mask)
		if (same_key(entry, &entries[table[place] - 1]))
			return false;
	table[place] = number;
	return true;
}

/* Returns 1 when all keys differ, 0 when two are equal, -1 without memory. */
static int many_keys_differ(const struct value_entry *entries, size_t count)
{
	auto_free uint32_t *table = NULL;
	size_t size = KEYS_COMPARED_MAX;

	while (size < 2 * count)
		size *= 2;
	table = calloc(size, sizeof(*table));
	if (!table)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (!key_is_new(table, size - 1, entries, (uint32_t)i + 1))
			return 0;
	return 1;
}

static int check_keys(struct decoder *dec, const struct value *map)
{
	int differ;

	if (map->map.count <= KEYS_COMPARED_MAX)
		differ = few_keys_differ(map->map.entries, map->map.count);
	else
		differ = many_keys_differ(map->map.entries, map->map.count);
	if (differ < 0)
		return refuse_memory(dec);
	if (differ == 0)
		return refuse(dec, ERR_INVALID, "duplicate", "a map has the same key twice");
	return 0;
}

static int decode_map(struct decoder *dec, const struct wire_head *head, struct value *value)
{
	size_t count = (size_t)head->number;
	struct value *values;

	value->type = VALUE_MAP;
	if (count == 0)
		return 0;
	value->map.entries = arena_array(dec->arena, struct value_entry, count);
	values = arena_array(dec->arena, struct value, count);
	if (!value->map.entries || !values)
		return refuse_memory(dec);

	value->map.size = count;
	for (size_t i = 0; i < count; i++) {
		value->map.entries[i].value = &values[i];
		if (decode_key(dec, &value->map.entries[i]) < 0)
			return -1;
		if (decode_object(dec, &values[i]) < 0)
			return -1;
		value->map.count++;
	}
	return check_keys(dec, value);
}

static int decode_inside(struct decoder *dec, const struct wire_head *head, struct value *value)
{
	int decoded;

	if (dec->depth >= WIRE_DEPTH_MAX)
		return refuse(dec, ERR_INVALID, "depth", "message nests too deep");
	dec->depth++;
	if (head->form == WIRE_LIST)
		decoded = decode_list(dec, head, value);
	else
		decoded = decode_map(dec, head, value);
	dec->depth--;
	return decoded;
}

static int decode_object(struct decoder *dec, struct value *value)
{
	struct wire_head head;

	if (read_head(dec, &head) < 0)
		return -1;

	switch (head.form) {
	case WIRE_NIL:
		value->type = VALUE_NIL;
		return 0;
	case WIRE_FALSE:
	case WIRE_TRUE:
		value->type = VALUE_BOOL;
		value->boolean = head.form == WIRE_TRUE;
		return 0;
	case WIRE_UINT:
	case WIRE_INT:
		return decode_integer(&head, value);
	case WIRE_REAL:
		return decode_real(dec, &head, value);
	case WIRE_STR:
	case WIRE_BIN:
		return decode_blob(dec, &head, value);
	case WIRE_LIST:
	case WIRE_MAP:
		return decode_inside(dec, &head, value);
	case WIRE_EXT:
	case WIRE_RESERVED:
		break;
	}
	return refuse(dec, ERR_INVALID, "type", "extension types are not known here");
}

static struct value *decode_whole(struct decoder *dec)
{
	struct value *value = arena_new(dec->arena, struct value);

	if (!value) {
		(void)refuse_memory(dec);
		return NULL;
	}
	if (decode_object(dec, value) < 0)
		return NULL;
	if (dec->at != dec->len) {
		(void)refuse(dec, ERR_INVALID, "syntax", "bytes behind the message");
		return NULL;
	}
	if (dec->nul)
		*dec->nul = '\0';
	return value;
}

struct value *wire_decode_in_place(
	/* NOLINTNEXTLINE(readability-non-const-parameter): the decoder writes to the bytes */
	struct arena *arena, char *bytes, size_t len, struct wire_fault *ret_fault, struct err *err)
{
	struct decoder dec = {
		.arena = arena, .bytes = bytes, .len = len, .fault = ret_fault, .err = err
	};

	return decode_whole(&dec);
}
