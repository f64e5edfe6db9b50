#include "proto/job/job_display.h"

#include <string.h>

#include "proto/wire/wire.h"

/* More than any list can have: bytes that are missing are found when they do not come. */
#define SCAN_BYTES_MAX ((size_t)1 << 40)

/* ---- one item ------------------------------------------------------------------------------- */

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c && strchr("!#$&^_.+-", c));
}

static bool is_name(const char *name, size_t len)
{
	size_t i = 0;

	while (i < len && is_name_char(name[i]))
		i++;
	return i == len && len > 0 && name[0] != '.';
}

bool job_display_is_type(const char *type, size_t len)
{
	const char *slash = memchr(type, '/', len);

	return slash && len <= JOB_DISPLAY_NAME_MAX && is_name(type, (size_t)(slash - type)) &&
	       is_name(slash + 1, len - (size_t)(slash - type) - 1);
}

static bool is_type(const struct value_entry *entry)
{
	return job_display_is_type(entry->key, entry->key_len);
}

static bool ends_with(const char *text, size_t len, const char *ending)
{
	size_t ending_len = strlen(ending);

	return len >= ending_len && memcmp(text + len - ending_len, ending, ending_len) == 0;
}

static bool is_json(const char *type, size_t len)
{
	return ends_with(type, len, "+json") ||
	       (len == 16 && !memcmp(type, "application/json", 16));
}

bool job_display_is_json(const char *type)
{
	return is_json(type, strlen(type));
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than JOB_DISPLAY_DEPTH_MAX */
static bool has_bytes(const struct value *value)
{
	for (size_t i = 0; value_is(value, VALUE_LIST) && i < value->list.count; i++)
		if (has_bytes(value->list.items[i]))
			return true;
	for (size_t i = 0; value_is(value, VALUE_MAP) && i < value->map.count; i++)
		if (has_bytes(value->map.entries[i].value))
			return true;
	return value_is(value, VALUE_BYTES);
}

/* A number or a word in a JSON value counts as this many bytes. */
#define SMALL_BYTES 8

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than JOB_DISPLAY_DEPTH_MAX */
static size_t bytes_of(const struct value *value)
{
	size_t bytes = SMALL_BYTES;

	if (value_is(value, VALUE_TEXT) || value_is(value, VALUE_BYTES))
		return bytes + value->text.len;
	for (size_t i = 0; value_is(value, VALUE_LIST) && i < value->list.count; i++)
		bytes += bytes_of(value->list.items[i]);
	for (size_t i = 0; value_is(value, VALUE_MAP) && i < value->map.count; i++)
		bytes += value->map.entries[i].key_len + bytes_of(value->map.entries[i].value);
	return bytes;
}

static bool is_content(const struct value_entry *entry)
{
	if (is_json(entry->key, entry->key_len))
		return !has_bytes(entry->value);
	return value_is(entry->value, VALUE_TEXT) || value_is(entry->value, VALUE_BYTES);
}

static bool is_data(const struct value *data)
{
	if (!value_is(data, VALUE_MAP) || !data->map.count ||
		data->map.count > JOB_DISPLAY_TYPES_MAX)
		return false;
	for (size_t i = 0; i < data->map.count; i++)
		if (!is_type(&data->map.entries[i]) || !is_content(&data->map.entries[i]))
			return false;
	return true;
}

static size_t json_bytes(const struct value *data)
{
	size_t bytes = 0;

	for (size_t i = 0; i < data->map.count; i++)
		if (is_json(data->map.entries[i].key, data->map.entries[i].key_len))
			bytes += bytes_of(data->map.entries[i].value);
	return bytes;
}

/* An item with the keys that are known, or NULL: it is none. */
static struct value *make_item(struct arena *arena, const struct value *from)
{
	const struct value *main = value_get(from, "main");
	struct value *data = value_get(from, "data");
	struct value *item;

	if ((main && !value_is(main, VALUE_BOOL)) || !is_data(data))
		return NULL;
	item = value_map(arena);
	value_map_put(arena, item, "main", value_bool(arena, value_as_bool(main, false)));
	value_map_put(arena, item, "data", data);
	return arena->failed ? NULL : item;
}

/* ---- the list ------------------------------------------------------------------------------- */

/* Reading a list. */
struct display {
	struct arena *arena;
	char *bytes;
	size_t len;
	size_t at;
	size_t json_bytes; /* of all items so far */
	struct value *list;
};

enum next {
	NEXT_ITEM,
	NEXT_END,    /* there is no more */
	NEXT_HALF,   /* the bytes end inside an item */
	NEXT_BROKEN, /* what follows is no item */
};

/*
 * The decoder puts a NUL behind a text, which may be where the next item begins.  So the byte there
 * is put back before the next item is read, and becomes a NUL again when its head has been read.
 */
static enum next read_item(struct display *display)
{
	char *from = display->bytes + display->at;
	struct wire_scanner scanner;
	struct value *item = NULL;
	size_t len = 0;
	char behind;
	int scanned;

	if (display->at == display->len)
		return NEXT_END;
	wire_scanner_init(&scanner, SCAN_BYTES_MAX, JOB_DISPLAY_DEPTH_MAX);
	scanned = wire_scan(&scanner, from, display->len - display->at, &len, NULL);
	if (scanned > 0) {
		behind = from[len];
		item = wire_decode_in_place(display->arena, from, len, NULL, NULL);
		from[len] = behind;
	}
	from[0] = '\0';
	if (scanned <= 0)
		return scanned == 0 ? NEXT_HALF : NEXT_BROKEN;
	item = item ? make_item(display->arena, item) : NULL;
	display->json_bytes += item ? json_bytes(value_get(item, "data")) : 0;
	if (!item || display->json_bytes > JOB_DISPLAY_JSON_MAX ||
		value_list_add(display->arena, display->list, item) < 0)
		return NEXT_BROKEN;
	display->at += len;
	return NEXT_ITEM;
}

void job_display_read(
	struct arena *arena, char *bytes, size_t len, bool cut, struct job_result *result)
{
	struct display display = { .arena = arena, .bytes = bytes, .len = len };
	enum next next = NEXT_ITEM;

	bytes[len] = '\0';
	display.list = value_list(arena);
	if (!display.list)
		return;
	while (next == NEXT_ITEM && display.list->list.count < JOB_DISPLAY_ITEMS_MAX)
		next = read_item(&display);
	bytes[display.at] = '\0';
	result->display = display.list;
	result->display_broken = next == NEXT_BROKEN || (next == NEXT_HALF && !cut);
	result->display_truncated = cut || (next == NEXT_ITEM && display.at < len);
}

const struct value *job_display_of_record(struct arena *arena, const struct value *list)
{
	struct value *display = value_is(list, VALUE_LIST) ? value_list(arena) : NULL;

	for (size_t i = 0; display && i < list->list.count; i++) {
		const struct value *from = list->list.items[i];
		struct value *item = value_map(arena);

		value_map_put(arena, item, "main", value_get(from, "main"));
		value_map_put(arena, item, "data", value_get(from, "data"));
		if (value_list_add(arena, display, item) < 0 || arena->failed)
			return NULL;
	}
	return display;
}

size_t job_display_bytes(const struct value *display)
{
	return display ? bytes_of(display) : 0;
}
