#include "cli/mcp/resources.h"

#include <string.h>

#include "cli/base/safe.h"
#include "cli/terminal/output.h"
#include "proto/base/container.h"
#include "proto/json.h"

#define PREFIX       "ced://run/"
#define OUTPUT       "/output/"
#define RECORD_BYTES ((size_t)16 << 20)
#define PAGE_BYTES   ((int64_t)1 << 20)

static const struct {
	const char *uri, *name, *about, *type;
} templates[] = {
	{ PREFIX "{run_id}", "run", "the record of a run; run_id may be last or last~N",
		"application/json" },
	{ PREFIX "{run_id}" OUTPUT "{stream}", "output",
		"what a run left: stdout, stderr, code, stdin, artifact:PATH", "text/plain" },
};

struct value *resources_templates(struct arena *arena)
{
	struct fill result = fill_start(arena);
	struct value *list = value_list(arena);

	for (size_t i = 0; i < COUNT_OF(templates); i++) {
		struct fill item = fill_start(arena);

		fill_text(&item, "uriTemplate", templates[i].uri);
		fill_text(&item, "name", templates[i].name);
		fill_text(&item, "description", templates[i].about);
		fill_text(&item, "mimeType", templates[i].type);
		value_list_add(arena, list, fill_done(&item));
	}
	fill_value(&result, "resourceTemplates", list);
	return fill_done(&result);
}

/* ---- reading ------------------------------------------------------------------------------- */

static int hex_of(char letter)
{
	static const char digits[] = "0123456789abcdef";
	const char *at =
		letter ? strchr(digits, letter >= 'A' && letter <= 'F' ? letter + 32 : letter)
		       : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Text in which %XX stands for a byte, as URIs have it. */
static const char *decode(struct arena *arena, const char *text)
{
	char *made = arena_strdup(arena, text);
	char *to = made;

	for (const char *from = text; made && *from; from++) {
		int high = *from == '%' ? hex_of(from[1]) : -1;
		int low = high >= 0 ? hex_of(from[2]) : -1;

		if (low >= 0 && high + low > 0) {
			*to++ = (char)(high * 16 + low);
			from += 2;
		} else {
			*to++ = *from;
		}
	}
	if (made)
		*to = '\0';
	return made;
}

int resources_question(struct request *request, const char *uri, const char **ret_method,
	const struct value **ret_params, struct err *err)
{
	struct arena *arena = &request->arena;
	struct fill params = fill_start(arena);
	const char *output;
	const char *run_id;

	if (strncmp(uri, PREFIX, strlen(PREFIX)) != 0)
		return err_set(err, ERR_MISSING,
			"resources of ced begin with %s; resources/templates/list has their forms",
			PREFIX);
	uri += strlen(PREFIX);
	output = strstr(uri, OUTPUT);
	run_id = output ? arena_copy(arena, uri, (size_t)(output - uri)) : uri;
	fill_value(&params, "run_id", value_text(arena, run_id));
	if (output) {
		fill_value(&params, "stream",
			value_text(arena, decode(arena, output + strlen(OUTPUT))));
		fill_int(&params, "length", PAGE_BYTES);
	}
	*ret_method = output ? "runs.output" : "runs.get";
	*ret_params = fill_done(&params);
	return *ret_params && value_ok(arena) ? 0 : err_set(err, ERR_MEMORY, "no memory");
}

/* {uri, mimeType, text} or {uri, mimeType, blob}. */
static struct value *contents(
	struct request *request, const char *type, const char *key, struct value *text)
{
	struct fill result = fill_start(&request->arena);
	struct fill item = fill_start(&request->arena);
	struct value *list = value_list(&request->arena);

	fill_shared(&item, "uri", value_get(request->params, "uri"));
	fill_text(&item, "mimeType", type);
	fill_value(&item, key, text);
	value_list_add(&request->arena, list, fill_done(&item));
	fill_value(&result, "contents", list);
	return fill_done(&result);
}

struct value *resources_read(struct request *request, const struct value *result)
{
	struct arena *arena = &request->arena;
	const struct value *data = value_get(result, "data");
	struct value *text = NULL;
	struct err err = ERR_INIT;
	struct buf json;
	struct buf safe;

	if (value_is(data, VALUE_BYTES))
		return contents(request, "application/octet-stream", "blob",
			answer_base64(arena, data->text.bytes, data->text.len));
	if (data)
		return contents(request, "text/plain", "text",
			value_text_len(arena, data->text.bytes, data->text.len));
	buf_init(&json, RECORD_BYTES);
	buf_init(&safe, RECORD_BYTES);
	if (json_write(&json, result, JSON_WRITE_PRETTY | JSON_WRITE_BASE64, &err) == 0 &&
		safe_json(&safe, json.bytes, json.len) == 0)
		text = value_text_len(arena, safe.bytes, safe.len);
	buf_done(&json);
	buf_done(&safe);
	return text ? contents(request, "application/json", "text", text) : NULL;
}

/* ---- listing ------------------------------------------------------------------------------- */

static struct value *list_item(struct arena *arena, const struct value *run)
{
	struct fill item = fill_start(arena);
	const char *run_id = output_text(arena, value_get(run, "run_id"));
	const char *uri = arena_printf(arena, "%s%s", PREFIX, run_id);
	const char *outcome = output_text(arena, value_get(run, "outcome"));
	const char *title =
		arena_printf(arena, "%s: %s", output_text(arena, value_get(run, "language")),
			outcome[0] ? outcome : output_text(arena, value_get(run, "state")));

	fill_value(&item, "uri", value_text(arena, uri));
	fill_text(&item, "name", run_id);
	fill_value(&item, "title", value_text(arena, title));
	fill_text(&item, "description", output_text(arena, value_get(run, "reason")));
	fill_text(&item, "mimeType", "application/json");
	return fill_done(&item);
}

struct value *resources_listed(struct request *request, const struct value *result)
{
	struct arena *arena = &request->arena;
	const struct value *runs = value_get(result, "runs");
	struct fill answer = fill_start(arena);
	struct value *list = value_list(arena);
	const struct value *last = NULL;

	for (size_t i = 0; value_at(runs, i); i++) {
		last = value_at(runs, i);
		value_list_add(arena, list, list_item(arena, last));
	}
	fill_value(&answer, "resources", list);
	if (last && value_as_bool(value_get(result, "more"), false))
		fill_text(&answer, "nextCursor", output_text(arena, value_get(last, "run_id")));
	return fill_done(&answer);
}
