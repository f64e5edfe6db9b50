#include "daemon/request/restore.h"

#include <string.h>

#include "proto/fill.h"

/* Leaves out what the record adds to a file, such as its size. */
static struct value *recorded_file(struct arena *arena, const void *items, size_t index)
{
	const struct value *file = value_at(items, index);
	struct fill fill = fill_start(arena);

	fill_shared(&fill, "path", value_get(file, "path"));
	fill_shared(&fill, "data", value_get(file, "data"));
	fill_shared(&fill, "mode", value_get(file, "mode"));
	return fill_done(&fill);
}

static bool is_listed(const char *const *keys, const char *key)
{
	while (*keys && strcmp(*keys, key) != 0)
		keys++;
	return *keys != NULL;
}

struct value *restore_params(
	struct arena *arena, const struct value *request, const char *const *left_out)
{
	struct fill fill = fill_start(arena);

	for (size_t i = 0; value_is(request, VALUE_MAP) && i < request->map.count; i++) {
		const struct value_entry *entry = &request->map.entries[i];
		const struct value *value = entry->value;

		if (value_is(value, VALUE_NIL) || is_listed(left_out, entry->key))
			continue;
		if (strcmp(entry->key, "files") == 0)
			fill_list(&fill, "files", value->list.count, value, recorded_file);
		else
			fill_shared(&fill, entry->key, value);
	}
	return fill_done(&fill);
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

	for (size_t i = 0; i < JOB_LIMIT_COUNT; i++)
		any.standard.each[i] = any.most.each[i] = INT64_MAX;
	read = job_spec_from_value(arena, params, &any, ret_spec, &refusal, err);
	if (read > 0)
		return err_set(
			err, ERR_CORRUPT, "its record is not a valid request: %s", refusal.message);
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
