#include "cli/base/language.h"

#include <string.h>

#include "proto/base/container.h"
#include "proto/base/nearest.h"

#define LINE_MAX_LEN 256
#define WORD_MAX     32
#define LETTERS      "abcdefghijklmnopqrstuvwxyz0123456789-"
#define USUAL        "python"
#define WHAT_TO_TYPE "name the language with --language (cectl runtimes lists what runs here)"

struct known {
	const char *word;
	const char *language;
};

static const struct known suffixes[] = {
	{ "py", "python" },
	{ "js", "javascript" },
	{ "mjs", "javascript" },
	{ "cjs", "javascript" },
	{ "sh", "bash" },
	{ "bash", "bash" },
	{ "pl", "perl" },
};

/* Without a version: "python3.11" is "python". */
static const struct known interpreters[] = {
	{ "python", "python" },
	{ "node", "javascript" },
	{ "nodejs", "javascript" },
	{ "sh", "bash" },
	{ "bash", "bash" },
	{ "dash", "bash" },
	{ "perl", "perl" },
};

static const char *find(const struct known *rows, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(rows[i].word, word) == 0)
			return rows[i].language;
	}
	return NULL;
}

int language_check(const char *name, struct err *err)
{
	struct nearest nearest = NEAREST_OF(name);

	if (name[strspn(name, LETTERS)] == '\0')
		return 0; /* which of these there are, the host knows */
	for (size_t i = 0; i < COUNT_OF(interpreters); i++)
		nearest_offer(&nearest, interpreters[i].language);
	return err_set(err, ERR_INVALID,
		"\"%.*s\" is not a language%s%s are written in small letters, digits and -",
		WORD_MAX, name, nearest_hint(&nearest),
		nearest.best ? " Languages" : "; languages");
}

/* The suffix of the file's name; NULL: none. */
static const char *suffix_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	return dot && dot != name && dot[1] ? dot + 1 : NULL;
}

/* ---- the first line ------------------------------------------------------------------------- */

/* Takes the next word of the line off its front; false: there is none. */
static bool next_word(const char **line, char ret_word[LINE_MAX_LEN])
{
	size_t len;

	*line += strspn(*line, " \t");
	len = strcspn(*line, " \t");
	memcpy(ret_word, *line, len);
	ret_word[len] = '\0';
	*line += len;
	return len > 0;
}

/* Of "/usr/bin/env -S VAR=1 python3 -u" the word "python3". */
static bool behind_env(const char **line, char ret_word[LINE_MAX_LEN])
{
	do {
		if (!next_word(line, ret_word))
			return false;
	} while (ret_word[0] == '-' || strchr(ret_word, '='));
	return true;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void cut_version(char *word)
{
	size_t len = strlen(word);

	while (len > 1 && strchr("0123456789.", word[len - 1]))
		word[--len] = '\0';
}

/* The interpreter that "#!" names, without its folder; false: there is none. */
static bool shebang_of(const struct language_hints *hints, char ret_name[LINE_MAX_LEN])
{
	char text[LINE_MAX_LEN];
	char word[LINE_MAX_LEN];
	const char *line = text;
	size_t len = 0;

	if (hints->code_len < 2 || memcmp(hints->code, "#!", 2) != 0)
		return false;
	while (2 + len < hints->code_len && len < sizeof(text) - 1 &&
		!strchr("\r\n", hints->code[2 + len])) /* a NUL ends it, too */
		len++;
	memcpy(text, hints->code + 2, len);
	text[len] = '\0';
	if (!next_word(&line, word) ||
		(strcmp(base_of(word), "env") == 0 && !behind_env(&line, word)))
		return false;
	cut_printf(ret_name, LINE_MAX_LEN, "%s", base_of(word));
	return ret_name[0] != '\0';
}

static const char *language_of_interpreter(const char *name)
{
	char word[LINE_MAX_LEN];

	if (strcmp(name, "python2") == 0 || strncmp(name, "python2.", 8) == 0)
		return NULL;
	cut_printf(word, sizeof(word), "%s", name);
	cut_version(word);
	return find(interpreters, COUNT_OF(interpreters), word);
}

/* ---- both ----------------------------------------------------------------------------------- */

static const char *unknown_interpreter(const char *path, const char *name, struct err *err)
{
	(void)err_set(err, ERR_INVALID, "%s begins with #! and %.*s, which cectl does not know: %s",
		path ? path : "the program", WORD_MAX, name, WHAT_TO_TYPE);
	return NULL;
}

static const char *unknown_file(const char *path, const char *suffix, struct err *err)
{
	if (suffix)
		(void)err_set(err, ERR_INVALID, "%s: cectl does not know what a .%.*s file is: %s",
			path, WORD_MAX, suffix, WHAT_TO_TYPE);
	else
		(void)err_set(err, ERR_INVALID,
			"%s: neither a suffix nor a first line such as #!/bin/bash says which "
			"language this is: %s",
			path, WHAT_TO_TYPE);
	return NULL;
}

const char *language_guess(const struct language_hints *hints, struct err *err)
{
	char name[LINE_MAX_LEN];
	bool has_shebang = shebang_of(hints, name);
	const char *by_shebang = has_shebang ? language_of_interpreter(name) : NULL;
	const char *suffix = hints->path ? suffix_of(hints->path) : NULL;
	const char *by_suffix = suffix ? find(suffixes, COUNT_OF(suffixes), suffix) : NULL;

	if (by_suffix && by_shebang && strcmp(by_suffix, by_shebang) != 0) {
		(void)err_set(err, ERR_INVALID,
			"%s is %s by its suffix and %s by its first line: say which with "
			"--language",
			hints->path, by_suffix, by_shebang);
		return NULL;
	}
	if (by_suffix || by_shebang)
		return by_suffix ? by_suffix : by_shebang;
	if (has_shebang)
		return unknown_interpreter(hints->path, name, err);
	return hints->path ? unknown_file(hints->path, suffix, err) : USUAL;
}
