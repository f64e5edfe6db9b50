/*
 * Reads the inputs of a program: arguments, stdin, files, environment.  Also reads artifacts,
 * labels and secrets.
 */

#include <stdlib.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/job/job_reader.h"
#include "proto/json.h"
#include "proto/names.h"
#include "proto/number.h"

#define FILE_MODE_DEFAULT 0644U

/* Includes names and terminators, as the kernel counts them for exec. */
#define ARGS_BYTES_MAX    (256U << 10)
#define ENV_BYTES_MAX     (256U << 10)
/* Limited because the masking searches for about a dozen forms of each secret. */
#define SECRETS_BYTES_MAX (16U << 10)

#define DISK_PAGE_BYTES 4096U /* page size of the tmpfs for a run's files */

#define PATH_BYTES_MAX 1024
#define GLOB_BYTES_MAX 256

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

static int take_arg(struct job_reader *reader, const struct value *arg, size_t index, size_t *total)
{
	struct place above = job_key("args");
	struct place at = place_item(&above, index);
	int answer = check_nul(reader, arg, &at);

	if (answer)
		return answer;
	*total += arg->text.len + 1;
	if (*total > ARGS_BYTES_MAX)
		return job_refuse(reader, &at, "too_long",
			"all args together have at most %u bytes", ARGS_BYTES_MAX);
	reader->spec.args[reader->spec.arg_count++] = job_bytes_of(arg);
	return 0;
}

int job_take_args(struct job_reader *reader)
{
	const struct value *args = job_param(reader, "args");
	size_t total = 0;

	if (!args)
		return 0;
	reader->spec.args = arena_array(reader->arena, struct bytes, args->list.count);
	if (!reader->spec.args)
		return job_no_memory(reader);
	for (size_t i = 0; i < args->list.count; i++) {
		int answer = take_arg(reader, args->list.items[i], i, &total);

		if (answer)
			return answer;
	}
	return 0;
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

int job_take_stdin(struct job_reader *reader)
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

int job_take_files(struct job_reader *reader)
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

int job_check_room(struct job_reader *reader)
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

int job_take_env(struct job_reader *reader)
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

int job_take_labels(struct job_reader *reader)
{
	return take_pairs(
		reader, "labels", &reader->spec.labels, &reader->spec.label_count, check_label);
}

/* ---- artifacts ---------------------------------------------------------------------------- */

static int take_glob(struct job_reader *reader, const struct value *glob, const struct place *at)
{
	if (!name_is_path(glob->text.bytes, glob->text.len))
		return job_refuse(reader, at, "path",
			"must be a relative pattern, without empty, \".\" or \"..\" parts");
	if (glob->text.len > GLOB_BYTES_MAX)
		return refuse_long(reader, at, GLOB_BYTES_MAX);
	reader->spec.artifact_globs[reader->spec.artifact_glob_count++] = glob->text.bytes;
	return 0;
}

int job_take_artifacts(struct job_reader *reader)
{
	const struct value *globs = job_param(reader, "artifacts");
	struct place above = job_key("artifacts");
	int answer = 0;

	if (!globs)
		return 0;
	reader->spec.artifact_globs = arena_array(reader->arena, const char *, globs->list.count);
	if (!reader->spec.artifact_globs)
		return job_no_memory(reader);
	for (size_t i = 0; i < globs->list.count && !answer; i++) {
		struct place at = place_item(&above, i);

		answer = take_glob(reader, globs->list.items[i], &at);
	}
	return answer;
}

/* ---- secrets ------------------------------------------------------------------------------ */

/* Error messages never contain the secret. */
static int take_secret(
	struct job_reader *reader, const struct value *secret, size_t index, size_t *total)
{
	struct place above = job_key("secrets");
	struct place at = place_item(&above, index);

	*total += secret->text.len;
	if (*total > SECRETS_BYTES_MAX)
		return job_refuse(reader, &at, "too_long",
			"all secrets together have at most %u bytes", SECRETS_BYTES_MAX);
	reader->spec.secrets[reader->spec.secret_count++] = job_bytes_of(secret);
	return 0;
}

int job_take_secrets(struct job_reader *reader)
{
	const struct value *secrets = job_param(reader, "secrets");
	size_t total = 0;
	int answer = 0;

	if (!secrets)
		return 0;
	reader->spec.secrets = arena_array(reader->arena, struct bytes, secrets->list.count);
	if (!reader->spec.secrets)
		return job_no_memory(reader);
	for (size_t i = 0; i < secrets->list.count && !answer; i++)
		answer = take_secret(reader, secrets->list.items[i], i, &total);
	return answer;
}
