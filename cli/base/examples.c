#include "cli/base/examples.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/base/source.h"

#define PARTS 3

/* ---- reading ----------------------------------------------------------------------------------- */

/* Cuts the text at the first line that holds only `---`; gives what follows, or NULL. */
static char *cut_part(char *text)
{
	for (char *line = text; line; line = strchr(line, '\n')) {
		if (*line == '\n')
			line++;
		if (strncmp(line, "---\n", 4) != 0)
			continue;
		*line = '\0';
		return line + 4;
	}
	return NULL;
}

/* The word behind "key:" in the first part, or `otherwise`. */
static const char *setting(
	struct arena *arena, const char *head, const char *key, const char *otherwise)
{
	size_t len = strlen(key);

	for (const char *line = head; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, len) == 0 && line[len] == ':') {
			const char *word = line + len + 1 + strspn(line + len + 1, " \t");

			return arena_copy(arena, word, strcspn(word, " \t\n"));
		}
	}
	return otherwise;
}

static size_t unescape(char *text, size_t len)
{
	size_t size = 0;
	unsigned byte;

	for (size_t at = 0; at < len; at++) {
		if (len - at >= 4 && text[at] == '\\' && text[at + 1] == 'x' &&
			/* NOLINTNEXTLINE(cert-err34-c): two digits fit */
			sscanf(text + at + 2, "%2x", &byte) == 1) {
			text[size++] = (char)byte;
			at += 3;
		} else {
			text[size++] = text[at];
		}
	}
	return size;
}

static int read_case(
	struct arena *arena, const char *path, struct example_case *ret_case, struct err *err)
{
	struct source source;
	char *part[PARTS];
	const char *bytes;

	if (source_read(arena, path, &source, err) < 0)
		return -1;
	part[0] = arena_copy(arena, source.bytes, source.len);
	for (int i = 1; i < PARTS; i++)
		part[i] = part[i - 1] ? cut_part(part[i - 1]) : NULL;
	if (!part[PARTS - 1])
		return err_set(err, ERR_INVALID,
			"%s: an example has three parts, between lines of `---`", path);
	ret_case->policy = setting(arena, part[0], "policy", "standard");
	ret_case->language = setting(arena, part[0], "language", "python");
	bytes = setting(arena, part[0], "bytes", "plain");
	ret_case->code = part[1];
	ret_case->code_len = strlen(part[1]);
	if (bytes && strcmp(bytes, "escaped") == 0)
		ret_case->code_len = unescape(part[1], ret_case->code_len);
	ret_case->expected = part[2];
	return ret_case->policy && ret_case->language
		       ? 0
		       : err_set(err, ERR_MEMORY, "no memory for examples");
}

static const char *name_of(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	return arena_copy(arena, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

static int add_file(
	struct arena *arena, const char *path, struct example_cases *cases, struct err *err)
{
	struct example_case *one = &cases->items[cases->count];

	if (cases->count == EXAMPLES_MAX)
		return err_set(err, ERR_TOO_BIG, "more than %d examples", EXAMPLES_MAX);
	one->name = name_of(arena, path);
	if (!one->name)
		return err_set(err, ERR_MEMORY, "no memory for examples");
	if (read_case(arena, path, one, err) < 0)
		return -1;
	cases->count++;
	return 0;
}

static int is_case(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return entry->d_name[0] != '.' && dot && strcmp(dot, ".case") == 0;
}

static int add_folder(
	struct arena *arena, const char *path, struct example_cases *cases, struct err *err)
{
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, is_case, alphasort);
	int r = count < 0 ? err_sys(err, "%s", path) : 0;

	for (int i = 0; i < count; i++) {
		const char *file = arena_printf(arena, "%s/%s", path, entries[i]->d_name);

		if (r == 0)
			r = file ? add_file(arena, file, cases, err)
				 : err_set(err, ERR_MEMORY, "no memory for examples");
		free(entries[i]);
	}
	free(entries);
	return r;
}

int examples_add(
	struct arena *arena, const char *path, struct example_cases *cases, struct err *err)
{
	struct stat status;

	if (!cases->items)
		cases->items = arena_array(arena, struct example_case, EXAMPLES_MAX);
	if (!cases->items)
		return err_set(err, ERR_MEMORY, "no memory for examples");
	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return add_folder(arena, path, cases, err);
	return add_file(arena, path, cases, err);
}

/* ---- comparing ---------------------------------------------------------------------------------- */

static const char *text_of(const struct value *map, const char *key)
{
	const char *text = value_as_text(value_get(map, key));

	return text ? text : "";
}

const char *examples_write(struct arena *arena, const struct value *verdict)
{
	const struct value *findings = value_get(verdict, "findings");
	const char *text = arena_printf(arena, "%s\n", text_of(verdict, "decision"));

	for (size_t i = 0; text && value_at(findings, i); i++) {
		const struct value *finding = value_at(findings, i);
		const char *what = text_of(finding, "text");

		text = arena_printf(arena, "%s%s %" PRId64 ":%" PRId64 " %s%s%s\n", text,
			text_of(finding, "rule"), value_as_int(value_get(finding, "line"), 0),
			value_as_int(value_get(finding, "column"), 0), text_of(finding, "severity"),
			what[0] ? " " : "", what);
	}
	return text ? text : "";
}

/* Whether the line begins so, and with whole words. */
static bool line_fits(
	const char *expected, size_t expected_len, const char *found, size_t found_len)
{
	if (expected_len > found_len || memcmp(expected, found, expected_len) != 0)
		return false;
	return expected_len == found_len || found[expected_len] == ' ';
}

bool examples_match(const char *expected, const char *found)
{
	bool only_decision = false;

	for (size_t line = 0; *expected || *found; line++) {
		size_t expected_len = strcspn(expected, "\n");
		size_t found_len = strcspn(found, "\n");

		if (line == 1 && !*expected)
			only_decision = true;
		if (only_decision)
			return true;
		if (!*expected || !*found || !line_fits(expected, expected_len, found, found_len))
			return false;
		expected += expected_len + (expected[expected_len] == '\n');
		found += found_len + (found[found_len] == '\n');
	}
	return true;
}
