#include "daemon/request/replay.h"

#include <string.h>

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

struct value *replay_params(struct arena *arena, const struct value *record, const char **ret_why)
{
	const struct value *request = value_get(record, "request");

	*ret_why = NULL;
	if (value_get(record, "pruned")) {
		*ret_why = "its contents were deleted from the store";
		return NULL;
	}
	if (!value_is(value_get(request, "code"), VALUE_TEXT) &&
		!value_is(value_get(request, "code"), VALUE_BYTES)) {
		*ret_why = "the record has no program to run again";
		return NULL;
	}
	return restore_params(arena, request, of_that_request);
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

static const struct value *plain(struct arena *arena, const struct value *of, const char *key)
{
	(void)arena;
	return value_get(of, key);
}

/* Returns the parts of an error that the program decides, not how often its text was cut. */
static const struct value *error_of(struct arena *arena, const struct value *of, const char *key)
{
	const struct value *error = value_get(of, key);
	struct fill fill = fill_start(arena);

	if (!value_is(error, VALUE_MAP))
		return NULL;
	fill_shared(&fill, "type", value_get(error, "type"));
	fill_shared(&fill, "message", value_get(error, "message"));
	fill_shared(&fill, "line", value_get(error, "line"));
	return fill_done(&fill);
}

static struct value *make_artifact(struct arena *arena, const void *items, size_t index)
{
	const struct value *artifact = value_at(items, index);
	struct fill fill = fill_start(arena);

	fill_shared(&fill, "path", value_get(artifact, "path"));
	fill_shared(&fill, "sha256", value_get(artifact, "sha256"));
	fill_shared(&fill, "mode", value_get(artifact, "mode"));
	return fill_done(&fill);
}

static struct value *make_call(struct arena *arena, const void *items, size_t index)
{
	const struct value *call = value_at(items, index);
	struct fill fill = fill_start(arena);

	fill_shared(&fill, "call", value_get(call, "call"));
	fill_shared(&fill, "kind", value_get(call, "kind"));
	return fill_done(&fill);
}

static struct value *make_finding(struct arena *arena, const void *items, size_t index)
{
	const struct value *finding = value_at(items, index);
	struct fill fill = fill_start(arena);

	fill_shared(&fill, "rule", value_get(finding, "rule"));
	fill_shared(&fill, "line", value_get(finding, "line"));
	return fill_done(&fill);
}

/* Returns the list with each item passed through `make`; NULL for an empty list. */
static const struct value *remade(struct arena *arena, const struct value *list,
	struct value *(*make)(struct arena *, const void *, size_t))
{
	struct fill fill = fill_start(arena);

	if (!value_at(list, 0))
		return NULL;
	fill_list(&fill, "list", list->list.count, list, make);
	return value_get(fill_done(&fill), "list");
}

static const struct value *artifacts_of(
	struct arena *arena, const struct value *of, const char *key)
{
	return remade(arena, value_get(of, key), make_artifact);
}

static const struct value *calls_of(struct arena *arena, const struct value *of, const char *key)
{
	return remade(arena, value_get(of, key), make_call);
}

static const struct value *findings_of(struct arena *arena, const struct value *of, const char *key)
{
	return remade(arena, value_get(value_get(of, "policy"), key), make_finding);
}

static const struct value *list_of(struct arena *arena, const struct value *of, const char *key)
{
	const struct value *list = value_get(of, key);

	(void)arena;
	return value_at(list, 0) ? list : NULL;
}

static const struct part {
	const char *key;
	const struct value *(*look)(struct arena *arena, const struct value *of, const char *key);
	bool has_lines; /* show only the line that differs */
} parts[] = {
	{ "outcome", plain, false },
	{ "exit_code", plain, false },
	{ "signal", plain, false },
	{ "stdout", plain, true },
	{ "stdout_tail", plain, true },
	{ "stdout_bytes", plain, false },
	{ "stderr", plain, true },
	{ "stderr_tail", plain, true },
	{ "stderr_bytes", plain, false },
	{ "value", plain, false },
	{ "error", error_of, false },
	{ "artifacts", artifacts_of, false },
	{ "artifacts_skipped", list_of, false },
	{ "output_errors", list_of, false },
	{ "refused_calls", calls_of, false },
	{ "findings", findings_of, false },
};

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
		const struct value *then = parts[i].look(arena, record, parts[i].key);
		const struct value *now = parts[i].look(arena, result, parts[i].key);

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
		const struct value *part = parts[i].look(arena, of, parts[i].key);

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

static struct value *list_circumstances(
	struct arena *arena, const struct value *record, const struct value *result)
{
	static const char *const maps[] = { "runtime", "limits", "policy" };
	struct value *list = value_list(arena);

	for (size_t i = 0; i < COUNT_OF(maps); i++)
		compare_map(arena, list, maps[i], value_get(record, maps[i]),
			value_get(result, maps[i]));
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
