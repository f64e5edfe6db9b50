/*
 * Reads the params of one request into a job_spec.
 *
 * A take_ function reads one group of keys.  It returns 0; 1 when the request is refused, and notes
 * the refusal; -1 without memory, and notes the error.  job_param() returns only values of the
 * shape that proto/method/schemas/run.json requires, so take_ functions do not check types.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/job/job.h"
#include "proto/job/job_network.h"
#include "proto/json.h"
#include "proto/method/method.h"
#include "proto/names.h"
#include "proto/number.h"
#include "proto/pointer.h"
#include "proto/schema/schema.h"

#define FILE_MODE_DEFAULT 0644U

/* Includes names and terminators, as the kernel counts them for exec. */
#define ARGS_BYTES_MAX    (256U << 10)
#define ENV_BYTES_MAX     (256U << 10)
/* Limited because the masking searches for about a dozen forms of each secret. */
#define SECRETS_BYTES_MAX (16U << 10)

#define DISK_PAGE_BYTES 4096U /* page size of the tmpfs for a run's files */

#define PATH_BYTES_MAX 1024
#define GLOB_BYTES_MAX 256

struct job_reader {
	struct arena *arena;
	const struct value *params;
	const struct job_bounds *bounds;
	struct job_spec spec;
	struct job_refusal refusal;
	struct err *err;
	/* For callers that want all errors: */
	struct job_refusals *all;          /* NULL: stop at the first error */
	const struct schema_report *shape; /* the schema's errors in the params */
};

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

/* Returns a key of the request; NULL when it is missing or does not have the required shape. */
static const struct value *job_param(const struct job_reader *reader, const char *key)
{
	return is_misshapen(reader->shape, key) ? NULL : value_get(reader->params, key);
}

/* Notes that there is no memory.  Returns -1. */
static int job_no_memory(struct job_reader *reader)
{
	return err_set(reader->err, ERR_MEMORY, "no memory for a request");
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

/*
 * Notes why the request is refused.  Returns 1 normally.  Returns 0 when the caller wants all
 * errors, so that the take_ function continues where it can.  Returns -1 without memory.
 */
__attribute__((format(printf, 4, 5))) static int job_refuse(struct job_reader *reader,
	const struct place *at, const char *reason, const char *format, ...)
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

static struct place job_key(const char *key)
{
	return place_key(NULL, key, strlen(key));
}

static struct bytes job_bytes_of(const struct value *value)
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
static int take_text(struct job_reader *reader, const char *key, const char **ret_text)
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

static int take_texts(struct job_reader *reader)
{
	const struct {
		const char *key;
		const char **ret_text;
	} rows[] = {
		{ "id", &reader->spec.id },
		{ "run_id", &reader->spec.run_id },
		{ "language", &reader->spec.language },
		{ "policy", &reader->spec.policy },
		{ "session", &reader->spec.session },
		{ "task", &reader->spec.task },
		{ "agent", &reader->spec.agent },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		int answer = take_text(reader, rows[i].key, rows[i].ret_text);

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

/* A path and its index in the request, to find paths that conflict. */
struct named_path {
	const char *path;
	size_t index;
};

static int check_nul(struct job_reader *reader, const struct value *text, const struct place *at)
{
	if (!memchr(text->text.bytes, '\0', text->text.len))
		return 0;
	return job_refuse(reader, at, "nul", "must not hold U+0000");
}

/* ---- arguments and stdin ------------------------------------------------------------------ */

/* Takes one item of a list.  `total` adds up what the items of the list have together. */
typedef int take_item(struct job_reader *reader, const struct value *item, const struct place *at,
	uint64_t *total);

/* How many items the list of this key has; 0 without it. */
static size_t list_count(const struct job_reader *reader, const char *key)
{
	const struct value *list = job_param(reader, key);

	return list ? list->list.count : 0;
}

/* Takes each item of a list.  `room` is where they go: NULL means that there is no memory. */
static int take_list(struct job_reader *reader, const char *key, const void *room, take_item *take)
{
	const struct place above = job_key(key);
	const size_t count = list_count(reader, key);
	uint64_t total = 0;
	int answer = room ? 0 : job_no_memory(reader);

	for (size_t i = 0; i < count && !answer; i++) {
		const struct place at = place_item(&above, i);

		answer = take(reader, job_param(reader, key)->list.items[i], &at, &total);
	}
	return answer;
}

static int take_arg(
	struct job_reader *reader, const struct value *arg, const struct place *at, uint64_t *total)
{
	int answer = check_nul(reader, arg, at);

	if (answer)
		return answer;
	*total += arg->text.len + 1;
	if (*total > ARGS_BYTES_MAX)
		return job_refuse(reader, at, "too_long", "all args together have at most %u bytes",
			ARGS_BYTES_MAX);
	reader->spec.args[reader->spec.arg_count++] = job_bytes_of(arg);
	return 0;
}

static int take_args(struct job_reader *reader)
{
	reader->spec.args = arena_array(reader->arena, struct bytes, list_count(reader, "args"));
	return take_list(reader, "args", reader->spec.args, take_arg);
}

static int refuse_long(struct job_reader *reader, const struct place *at, uint64_t most)
{
	return job_refuse(
		reader, at, "too_long", "must have at most %llu bytes", (unsigned long long)most);
}

static int take_input(struct job_reader *reader, const struct value *input)
{
	struct place at = job_key("input");
	struct err err = ERR_INIT;
	struct bytes text;

	if (json_write_text(reader->arena, input, JSON_WRITE_COMPACT, reader->bounds->input_bytes,
		    &text, &err) == 0) {
		reader->spec.input = text;
		reader->spec.has_input = true;
		return 0;
	}
	if (err.code == ERR_TOO_BIG)
		return refuse_long(reader, &at, reader->bounds->input_bytes);
	if (err.code == ERR_INVALID)
		return job_refuse(reader, &at, "value", "%s", err.text);
	return job_no_memory(reader);
}

static int take_stdin(struct job_reader *reader)
{
	const struct value *text = job_param(reader, "stdin");
	const struct value *input = job_param(reader, "input");
	struct place at = job_key(input ? "input" : "stdin");

	if (text && input)
		return job_refuse(reader, &at, "conflict", "stdin and input exclude each other");
	if (input)
		return take_input(reader, input);
	if (!text)
		return 0;
	if (text->text.len > reader->bounds->input_bytes)
		return refuse_long(reader, &at, reader->bounds->input_bytes);
	reader->spec.input = job_bytes_of(text);
	reader->spec.has_input = true;
	return 0;
}

/* ---- files -------------------------------------------------------------------------------- */

static struct place file_key(const struct place *file, const char *key)
{
	return place_key(file, key, strlen(key));
}

/* The state while files are read, with the paths so far.  The first path is the program's. */
struct taking {
	struct named_path *paths;
	size_t count;
	uint64_t bytes;
};

static const struct job_blob *find_blob(const struct job_bounds *bounds, const char *sha256)
{
	for (size_t i = 0; sha256 && i < bounds->blob_count; i++)
		if (strcmp(bounds->blobs[i].sha256, sha256) == 0)
			return &bounds->blobs[i];
	return NULL;
}

/*
 * Finds a file's content, in the request or among the blobs.  When it refuses, *ret_content has no
 * data.
 */
static int take_content(struct job_reader *reader, const struct value *file,
	const struct place *item, struct bytes *ret_content)
{
	const struct value *data = value_get(file, "data"), *blob = value_get(file, "blob");
	struct place at_data = file_key(item, "data"), at_blob = file_key(item, "blob");
	const struct job_blob *found;

	if (data && blob)
		return job_refuse(reader, &at_blob, "conflict", "data and blob exclude each other");
	if (!data && !blob)
		return job_refuse(reader, &at_data, "missing", "is required, or a blob");
	if (data) {
		*ret_content = job_bytes_of(data);
		if (!ret_content->data)
			ret_content->data = "";
		return 0;
	}
	found = find_blob(reader->bounds, value_as_text(blob));
	if (!found)
		return job_refuse(reader, &at_blob, "blob",
			"this content is not here, or not any more: send it with blob.put");
	*ret_content = found->data;
	return 0;
}

static int take_file(
	struct job_reader *reader, const struct value *file, size_t index, struct taking *taking)
{
	const struct value *path = value_get(file, "path");
	struct place files = job_key("files"), item = place_item(&files, index);
	struct place at_path = file_key(&item, "path"), at_data = file_key(&item, "data");
	uint64_t mode = FILE_MODE_DEFAULT;
	struct bytes content = { NULL, 0 };
	int answer;

	if (!name_is_path(path->text.bytes, path->text.len))
		return job_refuse(reader, &at_path, "path",
			"must be relative, without empty, \".\" or \"..\" parts and control characters");
	if (path->text.len > PATH_BYTES_MAX)
		return refuse_long(reader, &at_path, PATH_BYTES_MAX);
	taking->paths[taking->count++] = (struct named_path){ path->text.bytes, index + 1 };
	answer = take_content(reader, file, &item, &content);
	if (answer || !content.data)
		return answer;
	taking->bytes += content.len;
	if (taking->bytes > reader->bounds->files_bytes)
		return job_refuse(reader, &at_data, "too_long",
			"all files together have at most %llu bytes",
			(unsigned long long)reader->bounds->files_bytes);
	if (value_get(file, "mode"))
		(void)number_as_u64(value_get(file, "mode"), &mode);
	reader->spec.files[reader->spec.file_count++] =
		(struct job_input_file){ path->text.bytes, content, (uint32_t)mode };
	return 0;
}

/*
 * As strcmp(), but '/' sorts before all other characters.  So the paths below a path follow it
 * directly.
 */
static int compare_paths(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	if (*a == *b)
		return 0;
	if (!*a || !*b)
		return *a ? 1 : -1;
	if (*a == '/' || *b == '/')
		return *a == '/' ? -1 : 1;
	return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
}

static int compare_named(const void *left, const void *right)
{
	const struct named_path *a = left, *b = right;
	int order = compare_paths(a->path, b->path);

	if (order)
		return order;
	return (a->index > b->index) - (a->index < b->index);
}

static int compare_files(const void *left, const void *right)
{
	const struct job_input_file *a = left, *b = right;

	return strcmp(a->path, b->path);
}

/* Whether two paths conflict: they are the same, or the second is below the first. */
static bool is_in_the_way(const char *first, const char *second)
{
	size_t len = strlen(first);

	return strncmp(first, second, len) == 0 && (!second[len] || second[len] == '/');
}

static int refuse_pair(
	struct job_reader *reader, const struct named_path *a, const struct named_path *b)
{
	const struct named_path *blamed = b->index > a->index ? b : a;
	struct place files = job_key("files");
	struct place item = place_item(&files, blamed->index - 1);
	struct place at = file_key(&item, "path");

	if (a->index == 0 || b->index == 0)
		return job_refuse(reader, &at, "duplicate", "the program itself has this path");
	if (strcmp(a->path, b->path) == 0)
		return job_refuse(reader, &at, "duplicate", "another file has this path");
	return job_refuse(reader, &at, "duplicate", "one path is a file here and a folder there");
}

/* Refuses paths that conflict.  Index 0 is the program; file n of the request has n + 1. */
static int check_paths(struct job_reader *reader, struct taking *taking)
{
	struct named_path *paths = taking->paths;
	int answer = 0;

	qsort(paths, taking->count, sizeof(paths[0]), compare_named);
	for (size_t i = 0; i + 1 < taking->count && !answer; i++)
		if (is_in_the_way(paths[i].path, paths[i + 1].path))
			answer = refuse_pair(reader, &paths[i], &paths[i + 1]);
	return answer;
}

static int take_files(struct job_reader *reader)
{
	const struct value *files = job_param(reader, "files");
	struct taking taking = { .count = 1 };
	int answer = 0;

	if (!files || !files->list.count)
		return 0;
	reader->spec.files = arena_array(reader->arena, struct job_input_file, files->list.count);
	taking.paths = arena_array(reader->arena, struct named_path, files->list.count + 1);
	if (!reader->spec.files || !taking.paths)
		return job_no_memory(reader);
	taking.paths[0].path = reader->spec.entrypoint;
	for (size_t i = 0; i < files->list.count && !answer; i++)
		answer = take_file(reader, files->list.items[i], i, &taking);
	if (!answer)
		answer = check_paths(reader, &taking);
	qsort(reader->spec.files, reader->spec.file_count, sizeof(reader->spec.files[0]),
		compare_files);
	return answer;
}

/* ---- room for all of it ------------------------------------------------------------------- */

/* The disk space and inodes for the files that come with a run. */
struct room {
	uint64_t bytes, largest, inodes;
};

static void room_add(struct room *room, size_t len)
{
	room->bytes += (len + DISK_PAGE_BYTES - 1) / DISK_PAGE_BYTES * DISK_PAGE_BYTES;
	room->largest = len > room->largest ? len : room->largest;
	room->inodes++;
}

/* Counts the folders of a path that the path before it, in sorted order, does not have. */
static unsigned new_folders(const char *before, const char *path)
{
	unsigned count = 0;

	while (*path && *path == *before) {
		path++;
		before++;
	}
	for (; *path; path++)
		count += *path == '/';
	return count;
}

static struct room room_of(const struct job_spec *spec)
{
	struct room room = { 0 };
	const char *before = "";

	room_add(&room, spec->code.len);
	for (size_t i = 0; i < spec->file_count; i++) {
		room_add(&room, spec->files[i].data.len);
		room.inodes += new_folders(before, spec->files[i].path);
		before = spec->files[i].path;
	}
	if (spec->has_input)
		room_add(&room, spec->input.len);
	return room;
}

/* After files, stdin and limits. */
static int check_room(struct job_reader *reader)
{
	const struct job_limits *limits = &reader->spec.limits;
	const struct room room = room_of(&reader->spec);
	const struct {
		const char *name, *what;
		uint64_t needed, limit;
	} rows[] = {
		{ "disk_bytes", "bytes of disk", room.bytes, limits->disk_bytes },
		{ "inodes", "files and folders", room.inodes, limits->inodes },
		{ "file_bytes", "bytes in one file", room.largest, limits->file_bytes },
	};
	const struct place above = job_key("limits");

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct place at = place_key(&above, rows[i].name, strlen(rows[i].name));

		if (rows[i].limit && rows[i].needed > rows[i].limit)
			return job_refuse(reader, &at, "range",
				"is %llu, and the program, its files and stdin take %llu %s",
				(unsigned long long)rows[i].limit,
				(unsigned long long)rows[i].needed, rows[i].what);
	}
	return 0;
}

/* ---- environment and labels --------------------------------------------------------------- */

static int compare_pairs(const void *left, const void *right)
{
	const struct job_pair *a = left, *b = right;

	return strcmp(a->key, b->key);
}

/* Reads a map into pairs, sorted by key.  Calls `check` for each entry. */
static int take_pairs(struct job_reader *reader, const char *key, struct job_pair **ret_pairs,
	size_t *ret_count,
	int (*check)(
		struct job_reader *reader, const struct value_entry *entry, const struct place *at))
{
	const struct value *map = job_param(reader, key);
	struct place above = job_key(key);
	struct job_pair *pairs;

	if (!map)
		return 0;
	pairs = arena_array(reader->arena, struct job_pair, map->map.count);
	if (!pairs)
		return job_no_memory(reader);
	for (size_t i = 0; i < map->map.count; i++) {
		const struct value_entry *entry = &map->map.entries[i];
		struct place at = place_key(&above, entry->key, entry->key_len);
		int answer = check(reader, entry, &at);

		if (answer)
			return answer;
		pairs[i] = (struct job_pair){ entry->key, job_bytes_of(entry->value) };
	}
	if (map->map.count)
		qsort(pairs, map->map.count, sizeof(pairs[0]), compare_pairs);
	*ret_pairs = pairs;
	*ret_count = map->map.count;
	return 0;
}

static int check_variable(
	struct job_reader *reader, const struct value_entry *entry, const struct place *at)
{
	if (!name_is_variable(entry->key, entry->key_len))
		return job_refuse(reader, at, "value",
			"a name in env has letters, digits and _ only, and no digit in front");
	return check_nul(reader, entry->value, at);
}

static int take_env(struct job_reader *reader)
{
	struct place at = job_key("env");
	struct job_spec *spec = &reader->spec;
	size_t total = 0;
	int answer = take_pairs(reader, "env", &spec->env, &spec->env_count, check_variable);

	for (size_t i = 0; i < spec->env_count; i++)
		total += strlen(spec->env[i].key) + spec->env[i].value.len + 2;
	if (!answer && total > ENV_BYTES_MAX)
		return job_refuse(reader, &at, "too_long",
			"all names and values together have at most %u bytes", ENV_BYTES_MAX);
	return answer;
}

static int check_label(
	struct job_reader *reader, const struct value_entry *entry, const struct place *at)
{
	if (entry->key_len == 0 || entry->key_len > 128)
		return job_refuse(reader, at, "too_long", "the name of a label has 1 to 128 bytes");
	if (!name_is_printable(entry->key, entry->key_len) ||
		!name_is_printable(entry->value->text.bytes, entry->value->text.len))
		return job_refuse(reader, at, "value", "must hold printable characters only");
	return 0;
}

static int take_labels(struct job_reader *reader)
{
	return take_pairs(
		reader, "labels", &reader->spec.labels, &reader->spec.label_count, check_label);
}

/* ---- artifacts ---------------------------------------------------------------------------- */

static int take_glob(struct job_reader *reader, const struct value *glob, const struct place *at,
	uint64_t *total) /* NOLINT(readability-non-const-parameter): as in take_list() */
{
	(void)total;
	if (!name_is_path(glob->text.bytes, glob->text.len))
		return job_refuse(reader, at, "path",
			"must be a relative pattern, without empty, \".\" or \"..\" parts");
	if (glob->text.len > GLOB_BYTES_MAX)
		return refuse_long(reader, at, GLOB_BYTES_MAX);
	reader->spec.artifact_globs[reader->spec.artifact_glob_count++] = glob->text.bytes;
	return 0;
}

static int take_artifacts(struct job_reader *reader)
{
	reader->spec.artifact_globs =
		arena_array(reader->arena, const char *, list_count(reader, "artifacts"));
	return take_list(reader, "artifacts", reader->spec.artifact_globs, take_glob);
}

/* ---- package sets ------------------------------------------------------------------------- */

/* The stage of the contract knows which sets there are. */
static int take_package(struct job_reader *reader, const struct value *name, const struct place *at,
	uint64_t *total) /* NOLINT(readability-non-const-parameter) */
{
	struct job_spec *spec = &reader->spec;

	(void)total;
	for (size_t i = 0; i < spec->package_count; i++)
		if (strcmp(spec->packages[i], name->text.bytes) == 0)
			return job_refuse(reader, at, "duplicate", "is in the list already");
	spec->packages[spec->package_count++] = name->text.bytes;
	return 0;
}

static int take_packages(struct job_reader *reader)
{
	if (!job_param(reader, "packages"))
		return 0;
	reader->spec.has_packages = true;
	reader->spec.packages =
		arena_array(reader->arena, const char *, list_count(reader, "packages"));
	return take_list(reader, "packages", reader->spec.packages, take_package);
}

/* ---- secrets ------------------------------------------------------------------------------ */

/* Error messages never contain the secret. */
static int take_secret(struct job_reader *reader, const struct value *secret,
	const struct place *at, uint64_t *total)
{
	*total += secret->text.len;
	if (*total > SECRETS_BYTES_MAX)
		return job_refuse(reader, at, "too_long",
			"all secrets together have at most %u bytes", SECRETS_BYTES_MAX);
	reader->spec.secrets[reader->spec.secret_count++] = job_bytes_of(secret);
	return 0;
}

static int take_secrets(struct job_reader *reader)
{
	reader->spec.secrets =
		arena_array(reader->arena, struct bytes, list_count(reader, "secrets"));
	return take_list(reader, "secrets", reader->spec.secrets, take_secret);
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
	for (size_t i = 0; i < JOB_LIMIT_COUNT && !answer; i++)
		answer = take_limit(reader, limits, job_limit_names[i],
			reader->bounds->most.each[i], &reader->spec.limits.each[i]);
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

/* ---- tools -------------------------------------------------------------------------------- */

/* What tools.py has under a name of its own. */
#define TOOL_NAME_TAKEN "ToolError"

/* Compiles one schema of a tool.  `total`: the bytes of all schemas of the request so far. */
static int take_tool_schema(struct job_reader *reader, const struct value *schema,
	const struct place *at, uint64_t *total, const struct schema **ret_schema)
{
	struct schema_mistake mistake = { .message = "" };
	struct schema_error why = { .reason = "schema" };
	__attribute__((cleanup(buf_done))) struct buf buf;
	struct err err = ERR_INIT;
	int answer;

	buf_init(&buf, reader->bounds->schema_bytes - *total);
	if (json_write(&buf, schema, JSON_WRITE_COMPACT, &err) < 0)
		return err.code == ERR_TOO_BIG
			       ? job_refuse(reader, at, "too_long",
					 "all schemas of tools have at most %llu "
					 "bytes together",
					 (unsigned long long)reader->bounds->schema_bytes)
		       : err.code == ERR_INVALID ? job_refuse(reader, at, "schema", "%s", err.text)
						 : job_no_memory(reader);
	*total += buf.len;
	answer = schema_compile(
		reader->arena, schema, SCHEMA_JSON, ret_schema, &mistake, reader->err);
	if (answer <= 0)
		return answer;
	why.message = mistake.message;
	why.pointer =
		arena_printf(reader->arena, "%s%s", place_text(reader->arena, at), mistake.pointer);
	return why.pointer ? note(reader, &why) : job_no_memory(reader);
}

static bool has_tool(const struct job_spec *spec, const char *name)
{
	for (size_t i = 0; i < spec->tool_count; i++)
		if (strcmp(spec->tools[i].name, name) == 0)
			return true;
	return false;
}

static int check_tool_name(struct job_reader *reader, const char *name, const struct place *item)
{
	const struct place at = place_key(item, "name", 4);

	if (strcmp(name, TOOL_NAME_TAKEN) == 0)
		return job_refuse(reader, &at, "value", "the module has its own " TOOL_NAME_TAKEN);
	if (has_tool(&reader->spec, name))
		return job_refuse(reader, &at, "duplicate", "another tool has this name");
	return 0;
}

static int check_tool_number(struct job_reader *reader, const struct value *tool, const char *key,
	uint64_t most, const struct place *item, uint64_t *ret_number)
{
	const struct place at = place_key(item, key, strlen(key));

	if (!value_get(tool, key))
		return 0;
	if (number_as_u64(value_get(tool, key), ret_number) < 0 || *ret_number > most)
		return job_refuse(
			reader, &at, "range", "must be at most %llu", (unsigned long long)most);
	return 0;
}

static int take_tool(struct job_reader *reader, const struct value *asked, const struct place *item,
	uint64_t *total)
{
	const struct value *schema = value_get(asked, "input_schema");
	const struct value *output = value_get(asked, "output_schema");
	const struct place at_input = place_key(item, "input_schema", 12);
	const struct place at_output = place_key(item, "output_schema", 13);
	struct job_tool tool = { .name = value_as_text(value_get(asked, "name")),
		.params = value_get(schema, "properties"),
		.effects = value_as_bool(value_get(asked, "effects"), false) };
	int answer = check_tool_name(reader, tool.name, item);

	if (!answer)
		answer = check_tool_number(reader, asked, "timeout_ms",
			reader->bounds->most.call_ms, item, &tool.timeout_ms);
	if (!answer)
		answer = check_tool_number(
			reader, asked, "calls", reader->bounds->most.calls, item, &tool.calls);
	if (!answer)
		answer = take_tool_schema(reader, schema, &at_input, total, &tool.input);
	if (!answer && output)
		answer = take_tool_schema(reader, output, &at_output, total, &tool.output);
	reader->spec.tools[reader->spec.tool_count++] = tool;
	return answer;
}

/* Keys that mean nothing beside tools, whose results depend on the client. */
static int check_beside_tools(struct job_reader *reader)
{
	const struct place at_detach = job_key("detach"), at_cache = job_key("cache");
	int answer = 0;

	if (value_as_bool(job_param(reader, "detach"), false))
		answer = job_refuse(reader, &at_detach, "conflict",
			"a run with tools needs its client: detach is not possible");
	if (!answer && (says(reader, "cache", "use") || says(reader, "cache", "refresh")))
		answer = job_refuse(reader, &at_cache, "conflict",
			"the result of a run with tools is not cached");
	return answer;
}

static int take_tools(struct job_reader *reader)
{
	struct job_spec *spec = &reader->spec;
	int answer;

	spec->tools_as = says(reader, "tools_as", "functions") ? TOOLS_AS_FUNCTIONS
			 : says(reader, "tools_as", "async")   ? TOOLS_AS_ASYNC
							       : TOOLS_AS_MODULE;
	if (!list_count(reader, "tools"))
		return 0;
	answer = check_beside_tools(reader);
	spec->tools_asked = job_param(reader, "tools");
	spec->tools = arena_array(reader->arena, struct job_tool, list_count(reader, "tools"));
	return answer ? answer : take_list(reader, "tools", spec->tools, take_tool);
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
	spec->display = value_as_bool(job_param(reader, "display"), false);
	spec->stream = value_as_bool(job_param(reader, "stream"), false);
	spec->from = (uint64_t)value_as_int(job_param(reader, "from"), 0);
	spec->atomic = value_as_bool(job_param(reader, "atomic"), false);
	spec->announce = value_as_bool(job_param(reader, "announce"), false);
	spec->detach = value_as_bool(job_param(reader, "detach"), false);
	return 0;
}

/* Notes an error at a place below /network. */
static int refuse_network(
	struct job_reader *reader, const char *pointer, const char *reason, const char *message)
{
	const struct schema_error why = {
		.pointer = pointer, .reason = reason, .message = message
	};

	return note(reader, &why);
}

/* The clock of a deterministic run has no valid certificates, and what a network answers differs. */
static int take_network(struct job_reader *reader)
{
	const struct value *asked = job_param(reader, "network");
	struct job_spec *spec = &reader->spec;
	struct network_fault fault = { NULL, NULL, NULL };
	int answer = job_network_read(reader->arena, asked, &spec->network, &fault);

	if (answer < 0)
		return job_no_memory(reader);
	if (answer > 0)
		return refuse_network(reader, fault.pointer, fault.reason, fault.message);
	if (!spec->network)
		return 0;
	spec->network_asked = asked;
	if (value_as_bool(job_param(reader, "deterministic"), false))
		return refuse_network(
			reader, "/network", "conflict", "a deterministic run has no network");
	if (job_param(reader, "cache") && !says(reader, "cache", "off"))
		return refuse_network(reader, "/network", "conflict",
			"the result of a run with a network is not cached");
	return 0;
}

/* In the order in which people look for mistakes.  Files need the entrypoint. */
static int (*const takes[])(struct job_reader *reader) = {
	take_texts,
	take_code,
	take_entrypoint,
	take_args,
	take_stdin,
	take_files,
	take_env,
	take_limits,
	check_room,
	take_artifacts,
	take_packages,
	take_output,
	take_tools,
	take_labels,
	take_secrets,
	take_network,
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
