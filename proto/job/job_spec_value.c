/* Converts a job_spec back to params, for the store and for replays. */

#include "proto/fill.h"
#include "proto/job/job.h"

static struct value *make_arg(struct arena *arena, const void *items, size_t index)
{
	const struct bytes *arg = (const struct bytes *)items + index;

	return value_blob_borrowed(arena, arg->data, arg->len);
}

static struct value *make_glob(struct arena *arena, const void *items, size_t index)
{
	const char *const *globs = items;

	return value_text(arena, globs[index]);
}

static struct value *make_package(struct arena *arena, const void *items, size_t index)
{
	const char *const *names = items;

	return value_text(arena, names[index]);
}

static struct value *make_file(struct arena *arena, const void *items, size_t index)
{
	const struct job_input_file *file = (const struct job_input_file *)items + index;
	struct fill fill = fill_start(arena);

	fill_text(&fill, "path", file->path);
	fill_blob(&fill, "data", file->data);
	fill_int(&fill, "mode", file->mode);
	return fill_done(&fill);
}

static void put_pairs(
	struct fill *fill, const char *key, const struct job_pair *pairs, size_t count)
{
	struct fill inner = fill_start(fill->arena);

	if (!count)
		return;
	for (size_t i = 0; i < count; i++)
		fill_blob(&inner, pairs[i].key, pairs[i].value);
	fill_value(fill, key, fill_done(&inner));
}

static void put_inputs(struct fill *fill, const struct job_spec *spec)
{
	if (spec->arg_count)
		fill_list(fill, "args", spec->arg_count, spec->args, make_arg);
	if (spec->has_input)
		fill_blob(fill, "stdin", spec->input);
	if (spec->file_count)
		fill_list(fill, "files", spec->file_count, spec->files, make_file);
	put_pairs(fill, "env", spec->env, spec->env_count);
}

static void put_output(struct fill *fill, const struct job_spec *spec)
{
	if (spec->on_output_limit == ON_OUTPUT_TRUNCATE)
		fill_text(fill, "on_output_limit", "truncate");
	if (spec->artifact_glob_count)
		fill_list(fill, "artifacts", spec->artifact_glob_count, spec->artifact_globs,
			make_glob);
	if (spec->output == OUTPUT_JSON)
		fill_text(fill, "output", "json");
	fill_shared(fill, "schema", spec->schema);
}

struct value *job_spec_to_value(struct arena *arena, const struct job_spec *spec)
{
	struct fill fill = fill_start(arena);

	fill_optional_text(&fill, "id", spec->id);
	fill_text(&fill, "language", spec->language);
	fill_blob(&fill, "code", spec->code);
	fill_text(&fill, "entrypoint", spec->entrypoint);
	put_inputs(&fill, spec);
	fill_value(&fill, "limits", job_limits_to_value(arena, &spec->limits));
	if (spec->has_packages)
		fill_list(&fill, "packages", spec->package_count, spec->packages, make_package);
	put_output(&fill, spec);
	fill_optional_text(&fill, "policy", spec->policy);
	fill_optional_text(&fill, "session", spec->session);
	if (spec->from)
		fill_uint(&fill, "from", spec->from);
	if (spec->atomic)
		fill_bool(&fill, "atomic", true);
	fill_optional_text(&fill, "task", spec->task);
	fill_optional_text(&fill, "agent", spec->agent);
	put_pairs(&fill, "labels", spec->labels, spec->label_count);
	if (spec->trace == TRACE_OFF)
		fill_text(&fill, "trace", "off");
	if (spec->trace == TRACE_FILES)
		fill_text(&fill, "trace", "files");
	fill_shared(&fill, "network", spec->network_asked);
	if (spec->deterministic)
		fill_bool(&fill, "deterministic", true);
	fill_shared(&fill, "tools", spec->tools_asked);
	if (spec->tools_as != TOOLS_AS_MODULE)
		fill_text(&fill, "tools_as", tools_as_word(spec->tools_as));
	if (spec->display)
		fill_bool(&fill, "display", true);
	if (spec->cache != CACHE_OFF)
		fill_text(&fill, "cache", spec->cache == CACHE_USE ? "use" : "refresh");
	if (spec->stream)
		fill_bool(&fill, "stream", true);
	if (spec->announce)
		fill_bool(&fill, "announce", true);
	if (spec->detach)
		fill_bool(&fill, "detach", true);
	if (spec->masks)
		fill_uint(&fill, "masks", spec->masks);
	return fill_done(&fill);
}
