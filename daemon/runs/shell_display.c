#include "daemon/runs/shell_display.h"

#include <string.h>

#include "proto/job/job_display.h"
#include "proto/json.h"
#include "proto/wire/wire.h"

static const struct json_bounds content_bounds = { SHELL_DISPLAY_JSON_MAX,
	JOB_DISPLAY_DEPTH_MAX - 2, 1U << 16 };

static const char *read_json(
	struct arena *arena, const char *text, size_t len, struct value **ret_value)
{
	struct err err = ERR_INIT;

	if (len > SHELL_DISPLAY_JSON_MAX)
		return "JSON from a shell has at most 256 KiB";
	if (json_parse(arena, text, len, &content_bounds, ret_value, &err) < 0)
		return arena_strdup(arena, err.text);
	return NULL;
}

static struct value *make_item(struct arena *arena, const char *type, struct value *content)
{
	struct value *item = value_map(arena);
	struct value *data = value_map(arena);

	value_map_put(arena, data, type, content);
	value_map_put(arena, item, "main", value_bool(arena, false));
	value_map_put(arena, item, "data", data);
	return arena->failed ? NULL : item;
}

const char *shell_display_write(
	struct arena *arena, const char *body, size_t len, struct buf *ret_item)
{
	const char *end = memchr(body, '\0', len);
	const char *content;
	struct value *value = NULL;
	const char *why = NULL;
	size_t content_len;

	if (!end || !job_display_is_type(body, (size_t)(end - body)))
		return "the first word is no media type, as text/html is";
	content = end + 1;
	content_len = len - (size_t)(content - body);
	if (job_display_is_json(body))
		why = read_json(arena, content, content_len, &value);
	else
		value = value_blob_borrowed(arena, content, content_len);
	if (why)
		return why;
	value = make_item(arena, body, value);
	return value && wire_encode(ret_item, value, NULL) == 0 ? NULL : "no memory for it";
}
