#include "daemon/redact/masked_record.h"

#include <string.h>
#include <strings.h>

#include "daemon/redact/encodings.h"
#include "proto/base/container.h"
#include "proto/job/job_display.h"

#define CUT_BOTH (REDACT_CUT_FRONT | REDACT_CUT_END)

/* A copy of an array, whose items may be changed; NULL when it is empty, or without memory. */
#define COPY(redactor, items, count) copy_array((redactor), (items), (count), sizeof(*(items)))

static void *copy_array(struct redactor *redactor, const void *items, size_t count, size_t size)
{
	void *copy = count ? arena_calloc(redactor->arena, count, size) : NULL;

	if (copy)
		memcpy(copy, items, count * size);
	return copy;
}

/* ---- the request ---------------------------------------------------------------------------- */

/* Two names may get the same mask.  They are made different, because they become keys of a map. */
static void redact_pairs(struct redactor *redactor, struct job_pair **pairs, size_t *count)
{
	struct job_pair *copy = COPY(redactor, *pairs, *count);

	*count = copy ? *count : 0;
	*pairs = copy;
	for (size_t i = 0; i < *count; i++) {
		(void)redact_bytes(redactor, &copy[i].value, 0);
		if (redact_text(redactor, &copy[i].key, 0))
			copy[i].key = arena_printf(redactor->arena, "%s~%zu", copy[i].key, i);
		if (!copy[i].key)
			copy[i].key = "";
	}
}

static void redact_files(struct redactor *redactor, struct job_spec *kept)
{
	struct job_input_file *files = COPY(redactor, kept->files, kept->file_count);

	kept->file_count = files ? kept->file_count : 0;
	kept->files = files;
	for (size_t i = 0; i < kept->file_count; i++) {
		(void)redact_text(redactor, &files[i].path, 0);
		(void)redact_bytes(redactor, &files[i].data, 0);
	}
}

static void redact_args(struct redactor *redactor, struct job_spec *kept)
{
	struct bytes *args = COPY(redactor, kept->args, kept->arg_count);

	kept->arg_count = args ? kept->arg_count : 0;
	kept->args = args;
	for (size_t i = 0; i < kept->arg_count; i++)
		(void)redact_bytes(redactor, &args[i], 0);
}

static void redact_texts(struct redactor *redactor, const char ***texts, size_t *count)
{
	const char **copy = COPY(redactor, *texts, *count);

	*count = copy ? *count : 0;
	*texts = copy;
	for (size_t i = 0; i < *count; i++)
		(void)redact_text(redactor, &copy[i], 0);
}

void mask_spec(struct redactor *redactor, const struct job_spec *spec, struct job_spec *ret_kept)
{
	struct job_spec kept = *spec;
	uint64_t before = redactor->masks;
	const char **const names[] = { &kept.id, &kept.language, &kept.entrypoint, &kept.policy,
		&kept.task, &kept.agent };

	(void)redact_bytes(redactor, &kept.code, 0);
	redact_args(redactor, &kept);
	redact_files(redactor, &kept);
	kept.tools_asked = redact_value(redactor, kept.tools_asked);
	redactor->facts = true; /* patterns do not hide where a run may connect */
	kept.network_asked = redact_value(redactor, kept.network_asked);
	redactor->facts = false;
	kept.masks_unseen = redactor->masks - before;
	for (size_t i = 0; i < COUNT_OF(names); i++)
		(void)redact_text(redactor, names[i], 0);
	if (kept.has_input)
		(void)redact_bytes(redactor, &kept.input, 0);
	redact_pairs(redactor, &kept.env, &kept.env_count);
	redact_pairs(redactor, &kept.labels, &kept.label_count);
	redact_texts(redactor, &kept.artifact_globs, &kept.artifact_glob_count);
	redact_texts(redactor, &kept.packages, &kept.package_count);
	kept.schema = redact_value(redactor, kept.schema);
	kept.secrets = NULL;
	kept.masks = redactor->masks - before;
	*ret_kept = kept;
}

/* ---- the result ----------------------------------------------------------------------------- */

static void redact_stream(struct redactor *redactor, struct job_stream *stream)
{
	bool cut = stream->truncated;

	(void)redact_bytes(redactor, &stream->head, cut ? REDACT_CUT_END : 0);
	(void)redact_behind(redactor, &stream->tail, stream->before_tail,
		cut && !stream->before_tail ? REDACT_CUT_FRONT : 0);
}

/* Images and other bytes are not searched: what a picture shows cannot be found in its bytes. */
static const struct value *redact_content(struct redactor *redactor, const struct value *data)
{
	struct value *kept = value_map(redactor->arena);

	for (size_t i = 0; kept && value_is(data, VALUE_MAP) && i < data->map.count; i++) {
		const struct value_entry *entry = &data->map.entries[i];
		struct bytes type = { entry->key, entry->key_len };
		const struct value *content = entry->value;

		if (!value_is(content, VALUE_BYTES))
			content = redact_value(redactor, content);
		if (redact_bytes(redactor, &type, 0))
			continue;
		value_map_put_len(redactor->arena, kept, type.data, type.len,
			(struct value *)(uintptr_t)content);
	}
	return kept;
}

static void redact_display(struct redactor *redactor, struct job_result *kept)
{
	struct value *list = kept->display ? value_list(redactor->arena) : NULL;
	uint64_t before = redactor->masks;

	for (size_t i = 0; list && i < kept->display->list.count; i++) {
		const struct value *from = kept->display->list.items[i];
		struct value *item = value_map(redactor->arena);

		value_map_put(redactor->arena, item, "main", value_get(from, "main"));
		value_map_put(redactor->arena, item, "data",
			(struct value *)(uintptr_t)redact_content(
				redactor, value_get(from, "data")));
		value_list_add(redactor->arena, list, item);
	}
	if (redactor->masks != before || !list)
		kept->display = list;
}

static void redact_findings(struct redactor *redactor, struct policy_verdict *verdict)
{
	struct policy_finding *copy = COPY(redactor, verdict->findings, verdict->finding_count);

	verdict->finding_count = copy ? verdict->finding_count : 0;
	verdict->findings = copy;
	for (size_t i = 0; i < verdict->finding_count; i++) {
		(void)redact_text(redactor, &copy[i].text, CUT_BOTH);
		(void)redact_text(redactor, &copy[i].message, CUT_BOTH);
		(void)redact_text(redactor, &copy[i].hint, CUT_BOTH);
	}
}

static void redact_artifacts(struct redactor *redactor, struct job_result *kept)
{
	struct job_artifact *copy = COPY(redactor, kept->artifacts, kept->artifact_count);

	kept->artifact_count = copy ? kept->artifact_count : 0;
	kept->artifacts = copy;
	for (size_t i = 0; i < kept->artifact_count; i++) {
		(void)redact_text(redactor, &copy[i].path, 0);
		copy[i].masked = redact_bytes(redactor, &copy[i].data, 0) || copy[i].masked;
	}
}

static void redact_skipped(struct redactor *redactor, struct job_result *kept)
{
	struct job_skipped *copy = COPY(redactor, kept->skipped, kept->skipped_count);

	kept->skipped_count = copy ? kept->skipped_count : 0;
	kept->skipped = copy;
	for (size_t i = 0; i < kept->skipped_count; i++) {
		(void)redact_text(redactor, &copy[i].path, 0);
		(void)redact_text(redactor, &copy[i].reason, CUT_BOTH);
	}
}

/* Only names can be those that the caller wants kept secret.  Words, numbers and addresses stay. */
static struct value *redact_connection(struct redactor *redactor, const struct value *row)
{
	struct value *kept = value_map(redactor->arena);

	for (size_t i = 0; i < row->map.count; i++) {
		const struct value_entry *entry = &row->map.entries[i];
		bool is_name = !strcmp(entry->key, "host") || !strcmp(entry->key, "sni");
		const struct value *value =
			is_name ? redact_value(redactor, entry->value) : entry->value;

		(void)value_map_put(
			redactor->arena, kept, entry->key, (struct value *)(uintptr_t)value);
	}
	return kept;
}

static void redact_connections(struct redactor *redactor, struct job_result *kept)
{
	const struct value *rows = kept->connections;
	struct value *list = value_is(rows, VALUE_LIST) ? value_list(redactor->arena) : NULL;

	redactor->facts = true;
	for (size_t i = 0; list && i < rows->list.count; i++)
		(void)value_list_add(
			redactor->arena, list, redact_connection(redactor, rows->list.items[i]));
	redactor->facts = false;
	kept->connections = list;
}

static void redact_output_errors(struct redactor *redactor, struct job_result *kept)
{
	struct job_output_error *copy =
		COPY(redactor, kept->output_errors, kept->output_error_count);

	kept->output_error_count = copy ? kept->output_error_count : 0;
	kept->output_errors = copy;
	for (size_t i = 0; i < kept->output_error_count; i++) {
		(void)redact_text(redactor, &copy[i].pointer, 0);
		(void)redact_text(redactor, &copy[i].schema_pointer, 0);
		(void)redact_text(redactor, &copy[i].message, CUT_BOTH);
	}
}

static void redact_steps(struct redactor *redactor, struct job_result *kept)
{
	struct job_step *copy = COPY(redactor, kept->steps, kept->step_count);

	kept->step_count = copy ? kept->step_count : 0;
	kept->steps = copy;
	for (size_t i = 0; i < kept->step_count; i++)
		(void)redact_text(redactor, &copy[i].note, CUT_BOTH);
}

void mask_result(
	struct redactor *redactor, const struct job_result *result, struct job_result *ret_kept)
{
	struct job_result kept = *result;
	uint64_t before = redactor->masks;

	(void)redact_text(redactor, &kept.reason, CUT_BOTH);
	redact_stream(redactor, &kept.out);
	redact_stream(redactor, &kept.errout);
	redact_display(redactor, &kept);
	kept.value = redact_value(redactor, kept.value);
	kept.error = redact_value(redactor, kept.error);
	kept.files = redact_value(redactor, kept.files);
	redact_connections(redactor, &kept);
	redact_output_errors(redactor, &kept);
	redact_findings(redactor, &kept.verdict);
	redact_artifacts(redactor, &kept);
	redact_skipped(redactor, &kept);
	redact_steps(redactor, &kept);
	kept.masks += redactor->masks - before;
	*ret_kept = kept;
}

void mask_everything(struct job_result *kept)
{
	kept->reason = "withheld: there was no memory to look for secrets";
	kept->out.head = kept->out.tail = (struct bytes){ "", 0 };
	kept->errout.head = kept->errout.tail = (struct bytes){ "", 0 };
	kept->display = NULL;
	kept->value = kept->error = kept->evidence = kept->files = kept->connections = NULL;
	kept->output_error_count = kept->verdict.finding_count = 0;
	kept->artifact_count = kept->skipped_count = kept->step_count = 0;
}

/* ---- refused requests ----------------------------------------------------------------------- */

struct gathering {
	struct bytes items[SECRETS_MAX];
	size_t count, len;
	bool failed;
};

static void gather(struct gathering *all, const struct value *value)
{
	for (size_t i = 0; value_is(value, VALUE_LIST) && i < value->list.count; i++)
		gather(all, value->list.items[i]);
	for (size_t i = 0; value_is(value, VALUE_MAP) && i < value->map.count; i++)
		gather(all, value->map.entries[i].value);
	if (value_is(value, VALUE_LIST) || value_is(value, VALUE_MAP) || value_is(value, VALUE_NIL))
		return;
	if ((!value_is(value, VALUE_TEXT) && !value_is(value, VALUE_BYTES)) ||
		value->text.len < SECRET_LEN_MIN || value->text.len > SECRETS_LEN_MAX - all->len ||
		all->count == SECRETS_MAX) {
		all->failed = true;
		return;
	}
	all->len += value->text.len;
	all->items[all->count++] = (struct bytes){ value->text.bytes, value->text.len };
}

static bool is_about_secrets(const struct value_entry *entry)
{
	return !strncasecmp(entry->key, "secret", 6);
}

const struct value *mask_refused_params(struct redactor *redactor, const struct value *params)
{
	struct gathering all = { .count = 0 };
	struct value *rest = value_map(redactor->arena);

	if (!value_is(params, VALUE_MAP))
		return redact_value(redactor, params);
	for (size_t i = 0; i < params->map.count; i++) {
		const struct value_entry *entry = &params->map.entries[i];

		if (is_about_secrets(entry))
			gather(&all, entry->value);
		else if (value_map_put_len(redactor->arena, rest, entry->key, entry->key_len,
				 entry->value) < 0)
			all.failed = true;
	}
	if (all.count && !all.failed) {
		redactor->secrets = encodings_of(redactor->arena, all.items, all.count);
		all.failed = !redactor->secrets;
	}
	if (!all.failed)
		return redact_value(redactor, rest);
	rest = value_map(redactor->arena);
	value_map_put(redactor->arena, rest, "withheld",
		value_text(redactor->arena, "secrets that cannot be masked came with it"));
	return rest;
}

/* ---- cost ----------------------------------------------------------------------------------- */

size_t masked_spec_cost(const struct job_spec *spec)
{
	size_t bytes = spec->code.len + (spec->has_input ? spec->input.len : 0);

	for (size_t i = 0; i < spec->file_count; i++)
		bytes += spec->files[i].data.len;
	for (size_t i = 0; i < spec->arg_count; i++)
		bytes += spec->args[i].len;
	for (size_t i = 0; i < spec->env_count; i++)
		bytes += spec->env[i].value.len;
	return bytes;
}

size_t masked_result_cost(const struct job_result *result)
{
	size_t bytes = result->out.head.len + result->out.tail.len + result->errout.head.len +
		       result->errout.tail.len;

	for (size_t i = 0; i < result->artifact_count; i++)
		bytes += result->artifacts[i].data.len;
	return bytes + job_display_bytes(result->display);
}
