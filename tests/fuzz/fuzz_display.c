/*
 * Any bytes as what a program displays.  Every item that is kept holds what job_display.h promises,
 * can be sent and written as JSON, and reads again as the same item.  A prefix of the bytes gives a
 * prefix of the list.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/job/job_display.h"
#include "proto/json.h"
#include "proto/wire/wire.h"
#include "tests/fuzz/fuzz.h"

#define ARENA_BYTES_MAX ((size_t)4 << 20)

/* Gives the bytes, which the values point to. */
static char *read_list(struct arena *arena, const uint8_t *data, size_t len, bool cut,
	struct job_result *ret_result)
{
	char *bytes = malloc(len + 1);

	assert(bytes);
	if (len)
		memcpy(bytes, data, len);
	arena_init(arena, ARENA_BYTES_MAX);
	*ret_result = (struct job_result){ .outcome = OUTCOME_OK };
	job_display_read(arena, bytes, len, cut, ret_result);
	return bytes;
}

static void check_content(const struct value_entry *entry)
{
	struct buf json;

	assert(strlen(entry->key) == entry->key_len && entry->key_len <= JOB_DISPLAY_NAME_MAX);
	assert(strchr(entry->key, '/') == strrchr(entry->key, '/'));
	if (!job_display_is_json(entry->key)) {
		assert(entry->value->type == VALUE_TEXT || entry->value->type == VALUE_BYTES);
		return;
	}
	buf_init(&json, ARENA_BYTES_MAX);
	assert(json_write(&json, entry->value, JSON_WRITE_COMPACT, NULL) == 0);
	buf_done(&json);
}

static void check_item(const struct value *item)
{
	const struct value *data = value_get(item, "data");
	struct job_result again;
	struct arena arena;
	struct buf buf;
	char *bytes;

	assert(data->map.count >= 1 && data->map.count <= JOB_DISPLAY_TYPES_MAX);
	for (size_t i = 0; i < data->map.count; i++)
		check_content(&data->map.entries[i]);
	buf_init(&buf, ARENA_BYTES_MAX);
	assert(wire_encode(&buf, item, NULL) == 0);
	bytes = read_list(&arena, (const uint8_t *)buf.bytes, buf.len, false, &again);
	if (!arena.failed)
		assert(value_equal(value_at(again.display, 0), item) && !again.display_broken);
	arena_done(&arena);
	free(bytes);
	buf_done(&buf);
}

static void check_prefix(const uint8_t *data, size_t len, const struct value *whole)
{
	struct job_result result;
	struct arena arena;
	char *bytes = read_list(&arena, data, len, true, &result);

	for (size_t i = 0; value_at(result.display, i); i++)
		assert(value_equal(value_at(result.display, i), value_at(whole, i)));
	arena_done(&arena);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct job_result result;
	struct arena arena;
	char *bytes = read_list(&arena, data, len, false, &result);

	assert(result.display && result.display->list.count <= JOB_DISPLAY_ITEMS_MAX);
	for (size_t i = 0; value_at(result.display, i); i++)
		check_item(value_at(result.display, i));
	if (!arena.failed)
		check_prefix(data, len / 2, result.display);
	arena_done(&arena);
	free(bytes);
	return 0;
}
