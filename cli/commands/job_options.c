#include "cli/commands/job_options.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/language.h"
#include "cli/base/source.h"
#include "cli/base/units.h"
#include "cli/session/page.h"
#include "cli/terminal/piped.h"
#include "proto/base/container.h"
#include "proto/base/nearest.h"
#include "proto/fill.h"
#include "proto/job/job.h"

#define ENTRYPOINT_MAX 100
#define SHA256_WORD    "sha256:"
#define PROGRAM        "the program" /* what stdin may be */
#define LARGE_LEAST    65536 /* bytes; the contract takes no less of memory, disk and file */

/* A request that is being built; the first failure is kept until the end. */
struct building {
	struct cli *cli;
	struct value *params;
	const char *stdin_is; /* what cectl's own stdin is used for; NULL: nothing yet */
	struct err err;
};

static void put(struct building *b, const char *key, struct value *value)
{
	(void)value_map_put(&b->cli->arena, b->params, key, value);
}

static void put_source(struct building *b, const char *key, const struct source *source)
{
	put(b, key, value_blob_borrowed(&b->cli->arena, source->bytes, source->len));
}

/* Reads a file of the command line; "-" is cectl's own stdin, which can be used once. */
static int read_named(
	struct building *b, const char *path, const char *what, struct source *ret_source)
{
	if (strcmp(path, "-") == 0 && b->stdin_is)
		return err_set(&b->err, ERR_INVALID, "stdin is %s already, and cannot be %s, too",
			b->stdin_is, what);
	if (strcmp(path, "-") == 0)
		b->stdin_is = what;
	return source_read(&b->cli->arena, path, ret_source, &b->err);
}

/* ---- the program -------------------------------------------------------------------------- */

/* A file's own name, when it is plain enough for the daemon to run the program under it. */
static const char *plain_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t len = strlen(name);

	if (len == 0 || len > ENTRYPOINT_MAX || name[0] == '.' || name[0] == '-')
		return NULL;
	for (size_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)name[i]) && !strchr("._-", name[i]))
			return NULL;
	}
	return name;
}

static bool is_blank(const struct source *source)
{
	for (size_t i = 0; i < source->len; i++) {
		if (!isspace((unsigned char)source->bytes[i]))
			return false;
	}
	return true;
}

/* No program is named: it comes from stdin, or there is none. */
static int read_unnamed(struct building *b, struct source *ret_source)
{
	if (piped_is_folder(STDIN_FILENO))
		return err_set(&b->err, ERR_INVALID, "stdin is a folder, and no program");
	if (!piped_is_there(STDIN_FILENO))
		return err_set(&b->err, ERR_INVALID,
			"no program: name a FILE, give -c CODE, or pipe it to stdin");
	b->stdin_is = PROGRAM;
	return piped_read(
		STDIN_FILENO, PIPED_SILENCE_MS, &b->cli->err, &b->cli->arena, ret_source, &b->err);
}

static int read_program(struct building *b, const char **ret_path, struct source *ret_source)
{
	const char *operand = cli_operand(b->cli, 0);
	const char *code = cli_text(b->cli, "code");

	if (code && operand)
		return err_set(
			&b->err, ERR_INVALID, "-c and %s: which of them is the program?", operand);
	if (code) {
		*ret_source = (struct source){ code, strlen(code) };
		return 0;
	}
	if (operand && strcmp(operand, "-") != 0)
		*ret_path = operand;
	if ((operand ? read_named(b, operand, PROGRAM, ret_source) : read_unnamed(b, ret_source)) <
		0)
		return -1;
	if (b->stdin_is && is_blank(ret_source))
		return err_set(&b->err, ERR_INVALID,
			"nothing to run: the program that was read from stdin is empty");
	return 0;
}

static int put_program(struct building *b)
{
	const char *language = cli_text(b->cli, "language");
	const char *path = NULL;
	struct source source = { NULL, 0 };

	if (read_program(b, &path, &source) < 0)
		return -1;
	if (!language && cli_text(b->cli, "session")) {
		put_source(b, "code", &source); /* the session has its language, and its names */
		return 0;
	}
	if (!language)
		language = language_guess(
			&(struct language_hints){ path, source.bytes, source.len }, &b->err);
	if (!language)
		return -1;
	if (language_check(language, &b->err) < 0)
		return err_wrap(&b->err, "--language");
	put(b, "language", value_text(&b->cli->arena, language));
	put_source(b, "code", &source);
	if (path && plain_name(path) && !cli_text(b->cli, "entrypoint") &&
		!cli_text(b->cli, "session"))
		put(b, "entrypoint", value_text(&b->cli->arena, plain_name(path)));
	return 0;
}

/* ---- input -------------------------------------------------------------------------------- */

/* The text is no JSON and looks like the name of a file. */
static const char *file_hint(struct building *b, const char *text)
{
	const char *hint = "";

	if (access(text, F_OK) == 0)
		hint = arena_printf(&b->cli->arena, "; did you mean the file, @%s?", text);
	else if (!strchr("{[\"", text[0]))
		hint = "; write @FILE for a file, and \"quotation marks\" around a text";
	return hint ? hint : "";
}

static int put_json(struct building *b, const char *key, const struct source *json,
	const char *what, const char *hint)
{
	struct value *value = NULL;

	if (source_json(&b->cli->arena, json->bytes, json->len, &value, &b->err) == 0) {
		put(b, key, value);
		return 0;
	}
	(void)err_wrap(&b->err, "%s", what);
	return err_set(
		&b->err, ERR_INVALID, "%s%s", arena_strdup(&b->cli->arena, b->err.text), hint);
}

/* JSON, or "@FILE" with it. */
static int put_json_word(struct building *b, const char *key, const char *option, const char *word)
{
	struct source source = { word, strlen(word) };

	if (word[0] != '@')
		return put_json(b, key, &source, option, file_hint(b, word));
	if (read_named(b, word + 1, option, &source) < 0)
		return -1;
	return put_json(b, key, &source, word + 1, "");
}

/* A schema is an object, true or false: any other word is a file's name, with or without @. */
static int put_schema(struct building *b)
{
	const char *word = cli_text(b->cli, "schema");

	if (!word)
		return 0;
	if (word[0] != '{' && word[0] != '@' && strcmp(word, "true") != 0 &&
		strcmp(word, "false") != 0)
		word = arena_printf(&b->cli->arena, "@%s", word);
	return word ? put_json_word(b, "schema", "--schema", word)
		    : err_set(&b->err, ERR_MEMORY, "no memory");
}

static int put_stdin(struct building *b)
{
	const char *input = cli_text(b->cli, "input");
	const char *path = cli_text(b->cli, "stdin");
	struct source source = { NULL, 0 };

	if (input && put_json_word(b, "input", "--input", input) < 0)
		return -1;
	if (!path)
		return 0;
	if (read_named(b, path, "--stdin", &source) < 0)
		return -1;
	put_source(b, "stdin", &source);
	return 0;
}

/* "PATH:DEST"; a file whose name really holds a colon is meant as it is. */
static int split_file(
	struct building *b, const char *word, const char **ret_path, const char **ret_dest)
{
	const char *colon = strrchr(word, ':');
	const char *slash;

	if (colon && colon[1] && access(word, F_OK) < 0) {
		*ret_path = arena_copy(&b->cli->arena, word, (size_t)(colon - word));
		*ret_dest = colon + 1;
		return *ret_path ? 0 : err_set(&b->err, ERR_MEMORY, "no memory");
	}
	slash = strrchr(word, '/');
	*ret_path = word;
	*ret_dest = slash ? slash + 1 : word;
	return 0;
}

/* "sha256:HEX:DEST" of a file that was sent ahead; NULL: another form. */
static struct value *sent_value(struct building *b, const char *word)
{
	struct fill fill = fill_start(&b->cli->arena);

	if (strncmp(word, SHA256_WORD, strlen(SHA256_WORD)) != 0 || strlen(word) <= HASH_TEXT_LEN ||
		word[HASH_TEXT_LEN] != ':')
		return NULL;
	fill_text(&fill, "path", word + HASH_TEXT_LEN + 1);
	fill_value(&fill, "blob", value_text_len(fill.arena, word, HASH_TEXT_LEN));
	return fill_done(&fill);
}

/* A digest without a name behind it, which is no file's name either. */
static bool is_nameless(const char *word)
{
	size_t len = strlen(SHA256_WORD);

	return strncmp(word, SHA256_WORD, len) == 0 && access(word, F_OK) < 0 &&
	       strspn(word + len, "0123456789abcdef") == strlen(word + len);
}

static int add_file(struct building *b, struct value *list, const char *word)
{
	struct fill fill = fill_start(&b->cli->arena);
	struct value *sent = sent_value(b, word);
	struct source source = { NULL, 0 };
	const char *path = NULL;
	const char *dest = NULL;

	if (sent)
		return value_list_add(fill.arena, list, sent);
	if (is_nameless(word))
		return err_set(&b->err, ERR_INVALID,
			"--file %s does not say under which name: write SHA256:DEST, %.15s...:DEST",
			word, word);
	if (split_file(b, word, &path, &dest) < 0 || read_named(b, path, "--file", &source) < 0)
		return -1;
	fill_text(&fill, "path", dest);
	fill_value(&fill, "data", value_blob_borrowed(fill.arena, source.bytes, source.len));
	return value_list_add(fill.arena, list, fill_done(&fill));
}

static int put_files(struct building *b)
{
	const struct words *files = cli_words(b->cli, "file");
	struct value *list = value_list(&b->cli->arena);

	for (size_t i = 0; i < files->count; i++) {
		if (add_file(b, list, files->items[i]) < 0)
			return -1;
	}
	if (files->count > 0)
		put(b, "files", list);
	return 0;
}

/* ---- limits ------------------------------------------------------------------------------- */

enum limit_unit {
	LIMIT_COUNT,
	LIMIT_BYTES,
	LIMIT_MS
};

static bool ends_with(const char *text, const char *end)
{
	size_t text_len = strlen(text);
	size_t end_len = strlen(end);

	return text_len > end_len && strcmp(text + text_len - end_len, end) == 0;
}

static enum limit_unit limit_unit(const char *name)
{
	if (ends_with(name, "_ms"))
		return LIMIT_MS;
	return ends_with(name, "_bytes") ? LIMIT_BYTES : LIMIT_COUNT;
}

/* "memory" and "memory_bytes" both mean memory_bytes; "call" could be call_bytes or call_ms. */
static const char *limit_name(const char *word)
{
	const char *found = NULL;
	size_t len = strlen(word);

	for (size_t i = 0; i < JOB_LIMIT_COUNT; i++) {
		const char *name = job_limit_names[i];

		if (strcmp(name, word) == 0)
			return name;
		if (strncmp(name, word, len) == 0 &&
			(strcmp(name + len, "_ms") == 0 || strcmp(name + len, "_bytes") == 0)) {
			if (found)
				return NULL;
			found = name;
		}
	}
	return found;
}

const char *limit_word(struct cli *cli, const char *name)
{
	size_t cut = ends_with(name, "_ms") ? 3 : ends_with(name, "_bytes") ? 6 : 0;
	const char *brief = arena_copy(&cli->arena, name, strlen(name) - cut);
	const char *found = brief ? limit_name(brief) : NULL;

	if (found && strcmp(found, name) == 0)
		return brief;
	return limit_name(name) ? name : page_name(cli, name);
}

/* A number of bytes and a time have this name. */
static bool is_two_limits(const char *word)
{
	char bytes[64];
	char time[64];

	cut_printf(bytes, sizeof(bytes), "%s_bytes", word);
	cut_printf(time, sizeof(time), "%s_ms", word);
	return limit_name(bytes) && limit_name(time);
}

static int refuse_limit(struct building *b, const char *word)
{
	struct nearest nearest = NEAREST_OF(word);
	char names[256] = "";

	if (is_two_limits(word))
		return err_set(&b->err, ERR_INVALID,
			"the limit \"%s\" may be %s_bytes or %s_ms: write which", word, word, word);
	for (size_t i = 0; i < JOB_LIMIT_COUNT; i++) {
		const char *word_for = limit_word(b->cli, job_limit_names[i]);
		size_t len = strlen(names);

		cut_printf(names + len, sizeof(names) - len, "%s%s", i > 0 ? ", " : "",
			job_limit_names[i]);
		nearest_offer(&nearest, word_for);
		nearest_offer(&nearest, job_limit_names[i]);
	}
	if (nearest.best)
		return err_set(&b->err, ERR_INVALID, "there is no limit \"%s\"%s", word,
			nearest_hint(&nearest));
	return err_set(
		&b->err, ERR_INVALID, "there is no limit \"%s\"; the limits are %s", word, names);
}

/* 64 bytes of memory are a mistake; 64 bytes of output may be meant. */
static bool lacks_unit(const char *name, const char *text, uint64_t bytes)
{
	bool is_large = strcmp(name, "memory_bytes") == 0 || strcmp(name, "disk_bytes") == 0 ||
			strcmp(name, "file_bytes") == 0;

	return is_large && bytes < LARGE_LEAST && text[strspn(text, "0123456789.")] == '\0';
}

static int parse_bytes(
	const char *name, bool has_unit, const char *text, uint64_t *ret_number, struct err *err)
{
	if (units_parse_bytes(text, ret_number, err) < 0)
		return -1;
	if (!has_unit && lacks_unit(name, text, *ret_number))
		return err_set(err, ERR_INVALID, "\"%s\" has no unit: write %sk, %sm or %sg", text,
			text, text, text);
	return 0;
}

/* "wall_ms=2000" says its unit in its name; "wall=2" does not say what two. */
static int parse_limit(
	const char *key, const char *name, const char *text, uint64_t *ret_number, struct err *err)
{
	bool has_unit = strcmp(key, name) == 0;

	switch (limit_unit(name)) {
	case LIMIT_MS:
		if (has_unit && units_parse_count(text, ret_number, NULL) == 0)
			return 0;
		return units_parse_ms(text, ret_number, err);
	case LIMIT_BYTES:
		return parse_bytes(name, has_unit, text, ret_number, err);
	case LIMIT_COUNT:
		return units_parse_count(text, ret_number, err);
	}
	return -1;
}

static int put_limit(struct building *b, struct value *map, const char *word)
{
	const char *equals = strchr(word, '=');
	const char *key;
	const char *name;
	uint64_t number = 0;

	if (!equals || equals == word)
		return err_set(
			&b->err, ERR_INVALID, "--limit %s: it is written as NAME=NUMBER", word);
	key = arena_copy(&b->cli->arena, word, (size_t)(equals - word));
	if (!key)
		return err_set(&b->err, ERR_MEMORY, "no memory");
	name = limit_name(key);
	if (!name)
		return refuse_limit(b, key);
	if (parse_limit(key, name, equals + 1, &number, &b->err) < 0)
		return err_wrap(&b->err, "--limit %s", key);
	if (value_get(map, name))
		return err_set(&b->err, ERR_INVALID, "--limit %s is given twice", name);
	(void)value_map_put(&b->cli->arena, map, name, value_uint(&b->cli->arena, number));
	return 0;
}

/* --timeout is another name of the limit "wall". */
static int put_timeout(struct building *b, struct value *map, const char *text)
{
	uint64_t ms = 0;

	if (units_parse_ms(text, &ms, &b->err) < 0)
		return err_wrap(&b->err, "--timeout");
	if (value_get(map, "wall_ms"))
		return err_set(&b->err, ERR_INVALID, "--timeout and --limit wall: one of them");
	(void)value_map_put(&b->cli->arena, map, "wall_ms", value_uint(&b->cli->arena, ms));
	b->cli->has_timeout = true;
	return 0;
}

static int put_limits(struct building *b)
{
	const struct words *limits = cli_words(b->cli, "limit");
	const char *timeout = cli_text(b->cli, "timeout");
	struct value *map = value_map(&b->cli->arena);

	for (size_t i = 0; i < limits->count; i++) {
		if (put_limit(b, map, limits->items[i]) < 0)
			return -1;
	}
	if (timeout && put_timeout(b, map, timeout) < 0)
		return -1;
	if (limits->count > 0 || timeout)
		put(b, "limits", map);
	return 0;
}

/* ---- all of it ---------------------------------------------------------------------------- */

static void put_rest(struct building *b)
{
	struct arena *arena = &b->cli->arena;
	const struct words *rest = &b->cli->given.rest;
	struct value *args = value_list(arena);

	for (size_t i = 0; i < rest->count; i++)
		(void)value_list_add(arena, args, value_text(arena, rest->items[i]));
	if (rest->count > 0)
		put(b, "args", args);
	if (cli_flag(b->cli, "no-trace") || cli_flag(b->cli, "trace-files"))
		put(b, "trace", value_text(arena, cli_flag(b->cli, "no-trace") ? "off" : "files"));
}

void job_options_network(struct cli *cli, struct value *params)
{
	struct arena *arena = &cli->arena;
	const struct words *hosts = cli_words(cli, "allow-host");
	struct value *network = value_map(arena);
	struct value *allow = value_list(arena);

	for (size_t i = 0; hosts && i < hosts->count; i++)
		(void)value_list_add(arena, allow, value_text(arena, hosts->items[i]));
	if (!hosts || hosts->count == 0)
		return;
	(void)value_map_put(arena, network, "allow", allow);
	(void)value_map_put(arena, params, "network", network);
}

int job_options_params(struct cli *cli, struct value **ret_params)
{
	struct building b = { .cli = cli, .params = value_map(&cli->arena), .err = ERR_INIT };

	if (put_program(&b) < 0 || put_stdin(&b) < 0 || put_schema(&b) < 0 || put_files(&b) < 0 ||
		put_limits(&b) < 0)
		return b.err.code ? cli_usage(cli, "%s", b.err.text) : cli_no_memory(cli);
	job_options_network(cli, b.params);
	put_rest(&b);
	*ret_params = b.params;
	return cli_put_options(cli, b.params);
}

int job_options_limits(struct cli *cli, struct value *params)
{
	struct building b = { .cli = cli, .params = params, .err = ERR_INIT };

	if (put_limits(&b) == 0)
		return 0;
	return b.err.code ? cli_usage(cli, "%s", b.err.text) : cli_no_memory(cli);
}

int job_options_piped(struct cli *cli, struct value *params)
{
	const struct words *files = cli_words(cli, "file");
	const char *operand = cli_operand(cli, 0);
	bool is_program = !cli_text(cli, "code") && (!operand || strcmp(operand, "-") == 0);
	struct source source = { NULL, 0 };
	struct err err = ERR_INIT;

	if (is_program || cli_text(cli, "stdin") || cli_text(cli, "input") ||
		!piped_is_there(STDIN_FILENO))
		return 0;
	for (size_t i = 0; i < files->count; i++) {
		if (strcmp(files->items[i], "-") == 0)
			return 0;
	}
	if (piped_read(STDIN_FILENO, PIPED_SILENCE_MS, &cli->err, &cli->arena, &source, &err) < 0)
		return cli_usage(cli, "%s", err.text);
	if (source.len > 0)
		(void)value_map_put(&cli->arena, params, "stdin",
			value_blob_borrowed(&cli->arena, source.bytes, source.len));
	return 0;
}
