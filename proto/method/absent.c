#include "proto/method/absent.h"

#include <string.h>

static bool names(const struct value *list, const struct value_entry *entry)
{
	for (size_t i = 0; value_at(list, i); i++) {
		const struct value *name = value_at(list, i);

		if (value_is(name, VALUE_TEXT) && name->text.len == entry->key_len &&
			memcmp(name->text.bytes, entry->key, entry->key_len) == 0)
			return true;
	}
	return false;
}

static bool is_absent(const struct value *schema, const struct value_entry *entry)
{
	const struct value *properties = value_get(schema, "properties");
	const struct value *property =
		value_is(entry->value, VALUE_NIL)
			? value_get_len(properties, entry->key, entry->key_len)
			: NULL;

	/* No contract has the type "null".  This function would drop the nil of one that had it. */
	return (value_is(value_get(property, "type"), VALUE_TEXT) || value_get(property, "enum") ||
		       value_is(value_get(property, "type"), VALUE_LIST)) &&
	       !names(value_get(schema, "required"), entry);
}

/* Removes absent keys from an inner value.  Returns the same value when there are none. */
/* NOLINTNEXTLINE(misc-no-recursion): no deeper than our contracts */
static const struct value *below(
	struct arena *arena, const struct value *schema, const struct value *value)
{
	if (!schema || (!value_is(value, VALUE_MAP) && !value_is(value, VALUE_LIST)))
		return value;
	return absent_left_out(arena, schema, value);
}

/* Drops const: lists and maps hold items without it, but values never change. */
static struct value *shared(const struct value *value)
{
	return (struct value *)(uintptr_t)value;
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than our contracts */
static const struct value *of_list(
	struct arena *arena, const struct value *schema, const struct value *list)
{
	const struct value *items = value_get(schema, "items");
	struct value *copy = value_list(arena);
	bool changed = false;

	for (size_t i = 0; i < list->list.count; i++) {
		const struct value *item = below(arena, items, list->list.items[i]);

		if (!item || value_list_add(arena, copy, shared(item)) < 0)
			return NULL;
		changed = changed || item != list->list.items[i];
	}
	return changed ? copy : list;
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than our contracts */
static const struct value *of_map(
	struct arena *arena, const struct value *schema, const struct value *map)
{
	const struct value *properties = value_get(schema, "properties");
	struct value *copy = value_map(arena);
	bool changed = false;

	for (size_t i = 0; i < map->map.count; i++) {
		const struct value_entry *entry = &map->map.entries[i];
		const struct value *value = entry->value;

		if (is_absent(schema, entry)) {
			changed = true;
			continue;
		}
		value = below(arena, value_get_len(properties, entry->key, entry->key_len), value);
		if (!value || value_map_put_len(
				      arena, copy, entry->key, entry->key_len, shared(value)) < 0)
			return NULL;
		changed = changed || value != entry->value;
	}
	return changed ? copy : map;
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than our contracts */
const struct value *absent_left_out(
	struct arena *arena, const struct value *schema, const struct value *value)
{
	if (value_is(value, VALUE_LIST) && value->list.count <= ABSENT_ITEMS_MAX)
		return value_get(schema, "items") ? of_list(arena, schema, value) : value;
	if (value_is(value, VALUE_MAP) && value->map.count <= ABSENT_ITEMS_MAX)
		return value_get(schema, "properties") ? of_map(arena, schema, value) : value;
	return value;
}
