#include <stdarg.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/job/job.h"
#include "proto/job/job_reader.h"
#include "proto/json.h"
#include "proto/method/method.h"
#include "proto/names.h"
#include "proto/number.h"
#include "proto/schema/schema.h"

/* Whether the schema reported an error in the key or in its value. */
static bool is_misshapen(const struct schema_report *shape, const char *key)
{
	size_t len = strlen(key);

	for (size_t i = 0; shape && i < shape->count; i++) {
		const char *pointer = shape->errors[i].pointer;

		if (pointer[0] == '/' && strncmp(pointer + 1, key, len) == 0 &&
			(!pointer[len + 1] || pointer[len + 1] == '/'))
			return true;
	}
	return false;
}

const struct value *job_param(const struct job_reader *reader, const char *key)
{
	return is_misshapen(reader->shape, key) ? NULL : value_get(reader->params, key);
}

/* Notes an error.  Returns 1, which ends the reading, unless the caller wants all errors. */
static int note(struct job_reader *reader, const struct schema_error *why)
{
	struct job_refusals *all = reader->all;
	int answer = method_refuse(reader->arena, &reader->refusal, why, reader->err);

	if (answer < 0 || !all)
		return answer;
	if (all->count == JOB_REFUSALS_MAX)
		all->more = true;
	else
		all->items[all->count++] = reader->refusal;
	return 0;
}

int job_refuse(struct job_reader *reader, const struct place *at, const char *reason,
	const char *format, ...)
{
	struct schema_error why = { .reason = reason };
	char message[ERR_TEXT_MAX];
	va_list args;

	va_start(args, format);
	cut_vprintf(message, sizeof(message), format, args);
	va_end(args);
	why.message = message;
	why.pointer = place_text(reader->arena, at);
	if (!why.pointer)
		return job_no_memory(reader);
	return note(reader, &why);
}

int job_no_memory(struct job_reader *reader)
{
	return err_set(reader->err, ERR_MEMORY, "no memory for a request");
}

struct place job_key(const char *key)
{
	return place_key(NULL, key, strlen(key));
}

struct bytes job_bytes_of(const struct value *value)
{
	return (struct bytes){ value->text.bytes, value->text.len };
}

/* Whether an enum key of run.json has this word. */
static bool says(const struct job_reader *reader, const char *key, const char *word)
{
	const char *text = value_as_text(job_param(reader, key));

	return text && strcmp(text, word) == 0;
}

/* ---- the program -------------------------------------------------------------------------- */

/* Reads a text that is shown and stored unchanged. */
static int take_label(struct job_reader *reader, const char *key, const char **ret_text)
{
	const struct value *text = job_param(reader, key);
	struct place at = job_key(key);

	if (!text)
		return 0;
	if (!name_is_printable(text->text.bytes, text->text.len))
		return job_refuse(reader, &at, "value", "must hold printable characters only");
	*ret_text = text->text.bytes;
	return 0;
}

static int take_labels(struct job_reader *reader)
{
	const struct {
		const char *key;
		const char **ret_text;
	} rows[] = {
		{ "id", &reader->spec.id },
		{ "run_id", &reader->spec.run_id },
		{ "language", &reader->spec.language },
		{ "policy", &reader->spec.policy },
		{ "task", &reader->spec.task },
		{ "agent", &reader->spec.agent },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		int answer = take_label(reader, rows[i].key, rows[i].ret_text);

		if (answer)
			return answer;
	}
	return 0;
}

static int take_code(struct job_reader *reader)
{
	const struct value *code = job_param(reader, "code");
	struct place at = job_key("code");

	if (!code)
		return 0;
	if (code->text.len > reader->bounds->code_bytes)
		return job_refuse(reader, &at, "too_long", "must have at most %llu bytes, not %zu",
			(unsigned long long)reader->bounds->code_bytes, code->text.len);
	reader->spec.code = job_bytes_of(code);
	return 0;
}

static const struct job_entrypoint usual_entrypoints[] = {
	{ "python", "main.py" },
	{ "javascript", "main.js" },
	{ "bash", "main.sh" },
	{ NULL, "main" },
};

static const char *entrypoint_in(const struct job_entrypoint *rows, const char *language)
{
	while (rows->language && (!language || strcmp(rows->language, language) != 0))
		rows++;
	return rows->file;
}

static int take_entrypoint(struct job_reader *reader)
{
	const struct value *name = job_param(reader, "entrypoint");
	struct place at = job_key("entrypoint");

	if (reader->bounds->entrypoints)
		reader->spec.entrypoint =
			entrypoint_in(reader->bounds->entrypoints, reader->spec.language);
	if (!reader->spec.entrypoint)
		reader->spec.entrypoint = entrypoint_in(usual_entrypoints, reader->spec.language);
	if (!name)
		return 0;
	if (!name_is_file(name->text.bytes, name->text.len))
		return job_refuse(reader, &at, "path",
			"must be a bare file name of at most %d bytes, without / and control characters",
			NAME_PART_MAX);
	reader->spec.entrypoint = name->text.bytes;
	return 0;
}

/* ---- limits ------------------------------------------------------------------------------- */

static int take_limit(struct job_reader *reader, const struct value *limits, const char *name,
	uint64_t most, uint64_t *limit)
{
	const struct value *asked = value_get(limits, name);
	struct place above = job_key("limits");
	struct place at = place_key(&above, name, strlen(name));

	if (!asked)
		return 0;
	if (number_as_u64(asked, limit) < 0 || *limit > most)
		return job_refuse(
			reader, &at, "range", "must be at most %llu", (unsigned long long)most);
	return 0;
}

static int take_limits(struct job_reader *reader)
{
	const struct value *limits = job_param(reader, "limits");
	int answer = 0;

	reader->spec.limits = reader->bounds->standard;
	reader->spec.limits_asked = limits;
#define TAKE_LIMIT(name, meaning)                                                     \
	if (!answer)                                                                  \
		answer = take_limit(reader, limits, #name, reader->bounds->most.name, \
			&reader->spec.limits.name);
	JOB_LIMITS(TAKE_LIMIT)
#undef TAKE_LIMIT
	job_limits_settle(&reader->spec.limits);
	return answer;
}

/* ---- the output contract ------------------------------------------------------------------ */

/* Converts a place inside the schema to a place in the request. */
static int refuse_schema(struct job_reader *reader, const struct schema_mistake *mistake)
{
	struct schema_error why = { .reason = "schema", .message = mistake->message };

	why.pointer = arena_printf(reader->arena, "/schema%s", mistake->pointer);
	if (!why.pointer)
		return job_no_memory(reader);
	return note(reader, &why);
}

/* Refuses a schema that has no JSON form, as with bytes or NaN, or whose JSON is too long. */
static int check_schema_text(struct job_reader *reader, const struct value *schema)
{
	__attribute__((cleanup(buf_done))) struct buf buf;
	struct place at = job_key("schema");
	struct err err = ERR_INIT;

	buf_init(&buf, reader->bounds->schema_bytes);
	if (json_write(&buf, schema, JSON_WRITE_COMPACT, &err) == 0)
		return 0;
	if (err.code == ERR_TOO_BIG)
		return job_refuse(reader, &at, "too_long", "%s", err.text);
	if (err.code == ERR_INVALID)
		return job_refuse(reader, &at, "schema", "%s", err.text);
	return job_no_memory(reader);
}

static int take_schema(struct job_reader *reader, const struct value *schema)
{
	struct schema_mistake mistake = { .message = "" };
	int answer = check_schema_text(reader, schema);

	if (answer || (reader->all && reader->all->count))
		return answer; /* after an error the schema is not compiled */
	answer = schema_compile(reader->arena, schema, SCHEMA_JSON, &reader->spec.output_schema,
		&mistake, reader->err);
	if (answer > 0)
		return refuse_schema(reader, &mistake);
	reader->spec.schema = schema;
	return answer;
}

static int take_output(struct job_reader *reader)
{
	const struct value *schema = job_param(reader, "schema");
	struct place at = job_key("output");

	reader->spec.output = says(reader, "output", "json") ? OUTPUT_JSON : OUTPUT_TEXT;
	if (!schema)
		return 0;
	if (says(reader, "output", "text")) {
		int answer =
			job_refuse(reader, &at, "conflict", "a schema asks for output \"json\"");

		if (answer)
			return answer;
	}
	reader->spec.output = OUTPUT_JSON;
	return take_schema(reader, schema);
}

/* ---- the rest ----------------------------------------------------------------------------- */

static int take_switches(struct job_reader *reader)
{
	struct job_spec *spec = &reader->spec;

	spec->on_output_limit =
		says(reader, "on_output_limit", "truncate") ? ON_OUTPUT_TRUNCATE : ON_OUTPUT_KILL;
	spec->trace = says(reader, "trace", "off")     ? TRACE_OFF
		      : says(reader, "trace", "files") ? TRACE_FILES
						       : TRACE_STEPS;
	spec->deterministic = value_as_bool(job_param(reader, "deterministic"), false);
	spec->cache = says(reader, "cache", "use")       ? CACHE_USE
		      : says(reader, "cache", "refresh") ? CACHE_REFRESH
							 : CACHE_OFF;
	spec->stream = value_as_bool(job_param(reader, "stream"), false);
	spec->announce = value_as_bool(job_param(reader, "announce"), false);
	spec->detach = value_as_bool(job_param(reader, "detach"), false);
	return 0;
}

/* In the order in which people look for mistakes.  Files need the entrypoint. */
static int (*const takes[])(struct job_reader *reader) = {
	take_labels,
	take_code,
	take_entrypoint,
	job_take_args,
	job_take_stdin,
	job_take_files,
	job_take_env,
	take_limits,
	job_check_room,
	job_take_artifacts,
	take_output,
	job_take_labels,
	job_take_secrets,
	take_switches,
};

static int take_all(struct job_reader *reader)
{
	int answer = 0;

	for (size_t i = 0; i < COUNT_OF(takes) && !answer; i++)
		answer = takes[i](reader);
	return answer;
}

int job_spec_from_value(struct arena *arena, const struct value *params,
	const struct job_bounds *bounds, struct job_spec *ret_spec, struct job_refusal *ret_refusal,
	struct err *err)
{
	struct job_reader reader = {
		.arena = arena, .params = params, .bounds = bounds, .err = err
	};
	int answer = method_check_params(arena, METHOD_RUN, params, &reader.refusal, err);

	if (!answer)
		answer = take_all(&reader);
	if (answer > 0)
		*ret_refusal = reader.refusal;
	if (answer == 0)
		*ret_spec = reader.spec;
	return answer;
}

int job_spec_refusals(struct arena *arena, const struct value *params,
	const struct job_bounds *bounds, struct job_refusals *refusals, struct err *err)
{
	struct schema_report shape = { NULL, 0, false };
	struct job_reader reader = { .arena = arena,
		.params = params,
		.bounds = bounds,
		.err = err,
		.all = refusals,
		.shape = &shape };

	if (method_report_params(arena, METHOD_RUN, params, &shape, err) < 0)
		return -1;
	for (size_t i = 0; i < shape.count; i++)
		if (note(&reader, &shape.errors[i]) < 0)
			return -1;
	refusals->more = refusals->more || shape.more;
	return take_all(&reader);
}
