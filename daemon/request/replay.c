#include "daemon/request/replay.h"

#include <string.h>

#include "daemon/request/cell.h"
#include "daemon/request/restore.h"
#include "proto/base/container.h"
#include "proto/digest.h"
#include "proto/fill.h"
#include "proto/wire/wire.h"

#define SHOWN_BYTES 120 /* shown of a text that differs */
#define PART_BYTES  ((size_t)512 << 20)

/* ---- the request ---------------------------------------------------------------------------- */

/* Keys of the recorded request that concern its caller and not the program. */
static const char *const of_that_request[] = { "id", "cache", "masks", "secrets", "stream",
	"announce", "detach", NULL };

struct value *replay_params(
	struct arena *arena, const struct value *record, const char *session, const char **ret_why)
{
	const struct value *request = value_get(record, "request");
	const bool is_cell = value_is(value_get(request, "session"), VALUE_TEXT);
	struct value *params;

	*ret_why = NULL;
	if (is_cell != (session != NULL)) {
		*ret_why = is_cell ? "it is a cell of a session, which builds on the cells before "
				     "it: name in `session` a new one in which these have run "
				     "again, as cectl session replay does"
				   : "it is no cell of a session: leave `session` out";
		return NULL;
	}
	if (value_get(record, "pruned")) {
		*ret_why = "its contents were deleted from the store";
		return NULL;
	}
	if (!value_is(value_get(request, "code"), VALUE_TEXT) &&
		!value_is(value_get(request, "code"), VALUE_BYTES)) {
		*ret_why = "the record has no program to run again";
		return NULL;
	}
	params = restore_params(arena, request, of_that_request);
	return params && is_cell ? cell_params_again(arena, params, session) : params;
}

/* ---- secrets -------------------------------------------------------------------------------- */

/* Replaces a secret in a record that the caller had named. */
#define NAMED_MASK "[masked:secret]"

static bool holds_mask(const struct value *text)
{
	return memmem(text->text.bytes, text->text.len, NAMED_MASK, sizeof(NAMED_MASK) - 1);
}

/* NOLINTNEXTLINE(misc-no-recursion): records have a maximum depth */
static bool has_mask(const struct value *value)
{
	bool found = false;

	if (value_is(value, VALUE_TEXT) || value_is(value, VALUE_BYTES))
		return holds_mask(value);
	for (size_t i = 0; value_is(value, VALUE_LIST) && i < value->list.count && !found; i++)
		found = has_mask(value->list.items[i]);
	for (size_t i = 0; value_is(value, VALUE_MAP) && i < value->map.count && !found; i++)
		found = has_mask(value->map.entries[i].value);
	return found;
}

uint64_t replay_secrets(const struct value *record)
{
	const struct value *request = value_get(record, "request");
	int64_t named = value_as_int(value_get(request, "secrets"), 0);

	if (named > 0)
		return (uint64_t)named;
	/* Repeats of another result, and old records, do not have the number. */
	if (!value_get(record, "masks") && !value_get(request, "masks"))
		return 0;
	return has_mask(record) ? 1 : 0;
}

/* ---- the result ----------------------------------------------------------------------------- */

#define KEYS_MOST 4

static const struct part {
	const char *key;
	/* Only these keys of the map, or of each map in the list, are compared.  None: all of it */
	const char *keys[KEYS_MOST];
	bool is_list;   /* an empty list counts as absent */
	bool has_lines; /* show only the line that differs */
	bool of_policy; /* in the `policy` of the record */
} parts[] = {
	{ .key = "outcome" },
	{ .key = "exit_code" },
	{ .key = "signal" },
	{ .key = "stdout", .has_lines = true },
	{ .key = "stdout_tail", .has_lines = true },
	{ .key = "stdout_bytes" },
	{ .key = "stderr", .has_lines = true },
	{ .key = "stderr_tail", .has_lines = true },
	{ .key = "stderr_bytes" },
	{ .key = "display", .keys = { "main", "data" }, .is_list = true },
	{ .key = "display_broken" },
	{ .key = "value" },
	{ .key = "error", .keys = { "type", "message", "line" } },
	{ .key = "artifacts", .keys = { "path", "sha256", "mode" }, .is_list = true },
	{ .key = "artifacts_skipped", .is_list = true },
	{ .key = "output_errors", .is_list = true },
	{ .key = "calls", .keys = { "count", "failed", "by_tool" } },
	{ .key = "refused_calls", .keys = { "call", "kind" }, .is_list = true },
	{ .key = "findings", .keys = { "rule", "line" }, .is_list = true, .of_policy = true },
};

static struct value *pick(struct arena *arena, const struct value *of, const struct part *part)
{
	struct fill fill = fill_start(arena);

	for (size_t i = 0; i < KEYS_MOST && part->keys[i]; i++)
		fill_shared(&fill, part->keys[i], value_get(of, part->keys[i]));
	return fill_done(&fill);
}

/* Returns what is compared of a part; NULL: it is absent. */
static const struct value *part_of(
	struct arena *arena, const struct value *record, const struct part *part)
{
	const struct value *value =
		value_get(part->of_policy ? value_get(record, "policy") : record, part->key);
	struct value *list;

	if (part->is_list && !value_at(value, 0))
		return NULL;
	if (!part->keys[0])
		return value;
	if (!part->is_list)
		return value_is(value, VALUE_MAP) ? pick(arena, value, part) : NULL;
	list = value_list(arena);
	for (size_t i = 0; i < value->list.count; i++)
		value_list_add(arena, list, pick(arena, value->list.items[i], part));
	return list;
}

/* NULL and nil both mean absent. */
static bool is_there(const struct value *value)
{
	return value && !value_is(value, VALUE_NIL);
}

static bool is_same_value(const struct value *a, const struct value *b)
{
	if (!is_there(a) || !is_there(b))
		return is_there(a) == is_there(b);
	return value_equal(a, b);
}

static bool is_bytes(const struct value *value)
{
	return value_is(value, VALUE_TEXT) || value_is(value, VALUE_BYTES);
}

/* Finds where two texts differ: returns the start of that line; *ret_line counts from 1. */
static size_t parting_line(const struct value *a, const struct value *b, int64_t *ret_line)
{
	size_t least = a->text.len < b->text.len ? a->text.len : b->text.len;
	size_t begin = 0;

	*ret_line = 1;
	for (size_t i = 0; i < least && a->text.bytes[i] == b->text.bytes[i]; i++) {
		if (a->text.bytes[i] == '\n') {
			begin = i + 1;
			(*ret_line)++;
		}
	}
	return begin;
}

/* Returns one line of a text, cut to SHOWN_BYTES. */
static struct value *line_at(struct arena *arena, const struct value *text, size_t begin)
{
	size_t len = begin < text->text.len ? text->text.len - begin : 0;
	const char *from = text->text.bytes + (len ? begin : 0);
	const char *end = len ? memchr(from, '\n', len) : NULL;

	if (end)
		len = (size_t)(end - from);
	if (len > SHOWN_BYTES) {
		len = SHOWN_BYTES;
		while (len && ((unsigned char)from[len] & 0xc0U) == 0x80)
			len--; /* do not cut inside a character */
	}
	return value_blob_borrowed(arena, from, len);
}

static void put_sides(struct fill *fill, const struct value *recorded, const struct value *replayed)
{
	struct value *none = value_nil(fill->arena);

	fill_shared(fill, "recorded", recorded ? recorded : none);
	fill_shared(fill, "replayed", replayed ? replayed : none);
}

/* Returns {what, recorded, replayed}. */
static struct value *difference(struct arena *arena, const char *what, const struct value *recorded,
	const struct value *replayed)
{
	struct fill fill = fill_start(arena);

	fill_text(&fill, "what", what);
	put_sides(&fill, recorded, replayed);
	return fill_done(&fill);
}

/* The same for two streams, with the number of the first line that differs. */
static struct value *parting(struct arena *arena, const char *what, const struct value *recorded,
	const struct value *replayed)
{
	struct fill fill = fill_start(arena);
	int64_t line = 0;
	size_t begin = parting_line(recorded, replayed, &line);

	fill_text(&fill, "what", what);
	put_sides(&fill, line_at(arena, recorded, begin), line_at(arena, replayed, begin));
	fill_int(&fill, "line", line);
	return fill_done(&fill);
}

static struct value *list_differences(
	struct arena *arena, const struct value *record, const struct value *result)
{
	struct value *list = value_list(arena);

	for (size_t i = 0; i < COUNT_OF(parts); i++) {
		const struct value *then = part_of(arena, record, &parts[i]);
		const struct value *now = part_of(arena, result, &parts[i]);

		if (is_same_value(then, now))
			continue;
		value_list_add(arena, list,
			parts[i].has_lines && is_bytes(then) && is_bytes(now)
				? parting(arena, parts[i].key, then, now)
				: difference(arena, parts[i].key, then, now));
	}
	return list;
}

/* Computes one digest of everything that is compared; "" without memory. */
static void fingerprint(
	struct arena *arena, const struct value *of, char ret_text[DIGEST_TEXT_LEN + 1])
{
	struct digest digest;
	struct buf buf;
	int r = 0;

	digest_start(&digest);
	buf_init(&buf, PART_BYTES);
	for (size_t i = 0; i < COUNT_OF(parts) && r == 0; i++) {
		const struct value *part = part_of(arena, of, &parts[i]);

		buf.len = 0;
		if (is_there(part))
			r = wire_encode(&buf, part, NULL);
		digest_add_sized(&digest, parts[i].key, strlen(parts[i].key));
		digest_add_sized(&digest, buf.bytes, buf.len);
	}
	buf_done(&buf);
	digest_end_text(&digest, ret_text);
	if (r < 0)
		ret_text[0] = '\0';
}

/* ---- circumstances -------------------------------------------------------------------------- */

static void compare_map(struct arena *arena, struct value *list, const char *name,
	const struct value *then, const struct value *now)
{
	for (size_t i = 0; value_is(now, VALUE_MAP) && i < now->map.count; i++) {
		const struct value_entry *entry = &now->map.entries[i];
		const struct value *before = value_get_len(then, entry->key, entry->key_len);
		const char *what = arena_printf(arena, "%s.%s", name, entry->key);

		if (value_is(entry->value, VALUE_MAP))
			compare_map(arena, list, what ? what : name, before, entry->value);
		else if (!value_is(entry->value, VALUE_LIST) &&
			 !is_same_value(before, entry->value))
			value_list_add(arena, list,
				difference(arena, what ? what : name, before, entry->value));
	}
}

/* compare_map() leaves out lists. */
static void compare_packages(
	struct arena *arena, struct value *list, const struct value *then, const struct value *now)
{
	const struct value *before = value_get(then, "packages");
	const struct value *after = value_get(now, "packages");

	if (now && !is_same_value(before, after))
		value_list_add(arena, list, difference(arena, "runtime.packages", before, after));
}

static struct value *list_circumstances(
	struct arena *arena, const struct value *record, const struct value *result)
{
	static const char *const maps[] = { "runtime", "limits", "policy" };
	struct value *list = value_list(arena);

	for (size_t i = 0; i < COUNT_OF(maps); i++)
		compare_map(arena, list, maps[i], value_get(record, maps[i]),
			value_get(result, maps[i]));
	compare_packages(arena, list, value_get(record, "runtime"), value_get(result, "runtime"));
	return list;
}

struct value *replay_compare(struct arena *arena, const struct value *record,
	const struct value *masked, struct value *result)
{
	struct value *differs = list_differences(arena, record, masked);
	struct fill fill = fill_start(arena);
	char then[DIGEST_TEXT_LEN + 1];
	char now[DIGEST_TEXT_LEN + 1];

	fingerprint(arena, record, then);
	fingerprint(arena, masked, now);
	fill_shared(&fill, "replay_of", value_get(record, "run_id"));
	fill_bool(&fill, "same", differs && differs->list.count == 0);
	fill_value(&fill, "differs", differs);
	fill_value(&fill, "circumstances", list_circumstances(arena, record, masked));
	if (value_as_int(value_get(value_get(record, "request"), "masks"), 0) > 0)
		fill_shared(&fill, "masks", value_get(value_get(record, "request"), "masks"));
	fill_text(&fill, "fingerprint", now);
	fill_text(&fill, "recorded_fingerprint", then);
	fill_value(&fill, "result", result);
	return fill_done(&fill);
}
