#include "daemon/inspector/roots.h"

#include <string.h>

#define NAME_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."

struct reader {
	const TSQuery *query;
	const TSLanguage *language;
	const char *text;
	size_t len;
	size_t at;
	struct roots *roots;
};

/* NUL behind the end: a pattern has none. */
static char here(const struct reader *reader)
{
	return (char)(reader->at < reader->len ? reader->text[reader->at] : '\0');
}

static void skip_blanks(struct reader *reader)
{
	while (here(reader) && strchr(" \t\r\n;", here(reader))) {
		if (here(reader) == ';')
			while (here(reader) && here(reader) != '\n')
				reader->at++;
		else
			reader->at++;
	}
}

/* Behind the text in quotes at hand. */
static void skip_quotes(struct reader *reader)
{
	for (reader->at++; here(reader) && here(reader) != '"'; reader->at++)
		if (here(reader) == '\\')
			reader->at++;
	reader->at++;
}

/* Behind the bracket that closes the one before the place at hand. */
static void skip_inside(struct reader *reader)
{
	int depth = 1;

	while (depth > 0 && here(reader)) {
		char byte = here(reader);

		if (byte == '"') {
			skip_quotes(reader);
		} else if (byte == ';') {
			skip_blanks(reader);
		} else {
			depth += (byte == '(' || byte == '[') - (byte == ')' || byte == ']');
			reader->at++;
		}
	}
}

/* The length of the name at hand. */
static size_t name_len(const struct reader *reader)
{
	size_t len = 0;

	while (reader->at + len < reader->len &&
		memchr(NAME_BYTES, reader->text[reader->at + len], sizeof(NAME_BYTES) - 1))
		len++;
	return len;
}

static void give_up(struct reader *reader)
{
	reader->roots->anywhere = true;
	reader->at = reader->len;
}

static void add_root(struct reader *reader, TSSymbol kind, bool alone)
{
	struct roots *roots = reader->roots;

	if (roots->count == ROOTS_MAX)
		give_up(reader);
	else
		roots->roots[roots->count++] = (struct root){ .kind = kind, .alone = alone };
}

/* ---- what stands behind a pattern ----------------------------------------------------------- */

static void add_capture(struct reader *reader, uint32_t first, const char *name, size_t len)
{
	uint32_t count = ts_query_capture_count(reader->query);
	struct roots *roots = reader->roots;

	for (uint32_t id = 0; id < count; id++) {
		uint32_t known_len;
		const char *known = ts_query_capture_name_for_id(reader->query, id, &known_len);

		if (known_len != len || memcmp(known, name, len) != 0)
			continue;
		for (uint32_t i = first; i < roots->count; i++) {
			struct root *root = &roots->roots[i];

			if (root->capture_count < ROOT_CAPTURES_MAX)
				root->captures[root->capture_count++] = (uint16_t)id;
			else
				give_up(reader);
		}
		return;
	}
	give_up(reader);
}

/* Captures, which hold for all roots from `first` on; what may come more than once is not for us. */
static void read_captures(struct reader *reader, uint32_t first)
{
	for (skip_blanks(reader); here(reader) == '@'; skip_blanks(reader)) {
		size_t len;

		reader->at++;
		len = name_len(reader);
		add_capture(reader, first, reader->text + reader->at, len);
		reader->at += len;
	}
	if (here(reader) && strchr("*+?", here(reader)))
		give_up(reader);
}

/* ---- patterns ------------------------------------------------------------------------------- */

/* (kind ...) behind its bracket. */
static void read_node(struct reader *reader)
{
	const char *name = reader->text + reader->at;
	size_t len = name_len(reader);
	bool is_error = len == 5 && !memcmp(name, "ERROR", 5);
	TSSymbol kind =
		is_error ? (TSSymbol)-1
			 : ts_language_symbol_for_name(reader->language, name, (uint32_t)len, true);

	reader->at += len;
	skip_blanks(reader);
	if (kind == 0 || here(reader) == '/' ||
		(!is_error &&
			ts_language_symbol_type(reader->language, kind) != TSSymbolTypeRegular)) {
		give_up(reader);
		return;
	}
	add_root(reader, kind, here(reader) == ')');
	skip_inside(reader);
}

static void read_anonymous(struct reader *reader)
{
	size_t start = reader->at + 1;
	TSSymbol kind;
	size_t len;

	skip_quotes(reader);
	len = reader->at > start ? reader->at - start - 1 : 0;
	kind = ts_language_symbol_for_name(
		reader->language, reader->text + start, (uint32_t)len, false);
	if (kind == 0 || memchr(reader->text + start, '\\', len))
		give_up(reader);
	else
		add_root(reader, kind, true);
}

static void read_pattern(struct reader *reader);

/* Alternatives behind their bracket: each may begin. */
static void read_choice(struct reader *reader)
{
	for (skip_blanks(reader); here(reader) && here(reader) != ']'; skip_blanks(reader))
		read_pattern(reader);
	reader->at++;
}

/* ((kind ...) @capture (#condition ...)) behind its first bracket: one pattern, then conditions. */
static void read_group(struct reader *reader)
{
	read_pattern(reader);
	for (skip_blanks(reader); here(reader) == '('; skip_blanks(reader)) {
		reader->at++;
		skip_blanks(reader);
		if (here(reader) != '#') {
			give_up(reader);
			return;
		}
		skip_inside(reader);
	}
	if (here(reader) != ')')
		give_up(reader);
	reader->at++;
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than tree-sitter has gone into the same text */
static void read_pattern(struct reader *reader)
{
	uint32_t first = reader->roots->count;
	char begin = here(reader);

	if (begin == '[') {
		reader->at++;
		read_choice(reader);
	} else if (begin == '"') {
		read_anonymous(reader);
	} else if (begin == '(') {
		reader->at++;
		skip_blanks(reader);
		if (here(reader) && strchr("([\"", here(reader)))
			read_group(reader);
		else
			read_node(reader);
	} else {
		give_up(reader);
	}
	read_captures(reader, first);
}

void roots_read(const TSQuery *query, const TSLanguage *language, const char *text, size_t len,
	struct roots *ret_roots)
{
	struct reader reader = {
		.query = query, .language = language, .text = text, .len = len, .roots = ret_roots
	};

	ret_roots->count = 0;
	ret_roots->anywhere = false;
	skip_blanks(&reader);
	read_pattern(&reader);
	skip_blanks(&reader);
	if (reader.at < len || ret_roots->count == 0)
		ret_roots->anywhere = true;
}
