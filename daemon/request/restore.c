#include "daemon/request/restore.h"

#include <string.h>

#include "proto/base/container.h"

/* Drops what the record adds to a file, such as its size. */
static struct value *recorded_file(struct arena *arena, const struct value *file)
{
	static const char *const keys[] = { "path", "data", "mode" };
	struct value *map = value_map(arena);

	for (size_t i = 0; i < COUNT_OF(keys); i++)
		(void)value_map_put(arena, map, keys[i], value_get(file, keys[i]));
	return map;
}

static struct value *recorded_files(struct arena *arena, const struct value *files)
{
	struct value *list = value_list(arena);

	for (size_t i = 0; value_at(files, i); i++)
		(void)value_list_add(arena, list, recorded_file(arena, value_at(files, i)));
	return list;
}

struct value *restore_params(struct arena *arena, const struct value *request)
{
	struct value *params = value_map(arena);

	for (size_t i = 0; value_is(request, VALUE_MAP) && i < request->map.count; i++) {
		const struct value_entry *entry = &request->map.entries[i];
		struct value *value = entry->value;

		/* The record has only the numbers of secrets and masks. */
		if (value_is(value, VALUE_NIL) || !strcmp(entry->key, "secrets") ||
			!strcmp(entry->key, "masks"))
			continue;
		if (!strcmp(entry->key, "files"))
			value = recorded_files(arena, value);
		(void)value_map_put_len(arena, params, entry->key, entry->key_len, value);
	}
	return value_ok(arena) ? params : NULL;
}

int restore_spec(struct arena *arena, const struct value *params,
	const struct job_entrypoint *entrypoints, struct job_spec *ret_spec, struct err *err)
{
	struct job_bounds any = { .code_bytes = UINT64_MAX,
		.input_bytes = UINT64_MAX,
		.files_bytes = UINT64_MAX,
		.schema_bytes = UINT64_MAX,
		.entrypoints = entrypoints };
	struct job_refusal refusal = { 0 };
	int read;

#define ANY(name, meaning) any.standard.name = any.most.name = INT64_MAX;
	JOB_LIMITS(ANY)
#undef ANY
	read = job_spec_from_value(arena, params, &any, ret_spec, &refusal, err);
	if (read > 0)
		return err_set(err, ERR_CORRUPT, "its record is no request: %s", refusal.message);
	return read;
}

static struct value *list_files(struct arena *arena, const struct job_spec *spec)
{
	struct value *list = value_list(arena);

	for (size_t i = 0; i < spec->file_count; i++) {
		const struct job_input_file *file = &spec->files[i];
		struct value *map = value_map(arena);

		(void)value_map_put(arena, map, "path", value_text(arena, file->path));
		(void)value_map_put(arena, map, "data",
			value_blob_borrowed(arena, file->data.data, file->data.len));
		(void)value_map_put(arena, map, "mode", value_uint(arena, file->mode));
		(void)value_list_add(arena, list, map);
	}
	return list;
}

const struct value *restore_files(
	struct arena *arena, const struct value *params, const struct job_spec *spec)
{
	struct value *map = value_map(arena);

	for (size_t i = 0; i < params->map.count; i++) {
		const struct value_entry *entry = &params->map.entries[i];
		bool files = !strcmp(entry->key, "files");

		(void)value_map_put_len(arena, map, entry->key, entry->key_len,
			files ? list_files(arena, spec) : entry->value);
	}
	return value_ok(arena) ? map : params;
}
