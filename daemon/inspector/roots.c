#include "daemon/inspector/roots.h"

#include <string.h>

#include "daemon/inspector/reading.h"

struct reader {
	struct reading reading;
	const TSLanguage *language;
	struct roots *roots;
};

static char here(const struct reader *reader)
{
	return reading_here(&reader->reading);
}

static void give_up(struct reader *reader)
{
	reader->roots->anywhere = true;
	reader->reading.at = reader->reading.len;
}

static void add_root(struct reader *reader, TSSymbol kind)
{
	struct roots *roots = reader->roots;

	if (roots->count == ROOTS_MAX)
		give_up(reader);
	else
		roots->kinds[roots->count++] = kind;
}

/* Names of what is found say nothing here; what may come more than once is not for us. */
static void skip_captures(struct reader *reader)
{
	struct reading *reading = &reader->reading;
	size_t len;

	for (reading_skip_blanks(reading); here(reader) == '@'; reading_skip_blanks(reading)) {
		reading->at++;
		(void)reading_name(reading, &len);
	}
	if (here(reader) && strchr("*+?", here(reader)))
		give_up(reader);
}

/* ---- patterns ------------------------------------------------------------------------------- */

/* (kind ...) behind its bracket. */
static void read_node(struct reader *reader)
{
	size_t len;
	const char *name = reading_name(&reader->reading, &len);
	bool is_error = len == 5 && !memcmp(name, "ERROR", 5);
	TSSymbol kind =
		is_error ? (TSSymbol)-1
			 : ts_language_symbol_for_name(reader->language, name, (uint32_t)len, true);

	reading_skip_blanks(&reader->reading);
	if (len == 0 || kind == 0 || here(reader) == '/' ||
		(!is_error &&
			ts_language_symbol_type(reader->language, kind) != TSSymbolTypeRegular)) {
		give_up(reader);
		return;
	}
	add_root(reader, kind);
	reading_skip_inside(&reader->reading);
}

static void read_anonymous(struct reader *reader)
{
	size_t start = reader->reading.at + 1;
	TSSymbol kind;
	size_t len;

	reading_skip_quotes(&reader->reading);
	len = reader->reading.at > start ? reader->reading.at - start - 1 : 0;
	kind = ts_language_symbol_for_name(
		reader->language, reader->reading.text + start, (uint32_t)len, false);
	if (kind == 0 || memchr(reader->reading.text + start, '\\', len))
		give_up(reader);
	else
		add_root(reader, kind);
}

static void read_pattern(struct reader *reader);

/* Alternatives behind their bracket: each may begin. */
static void read_choice(struct reader *reader)
{
	for (reading_skip_blanks(&reader->reading); here(reader) && here(reader) != ']';
		reading_skip_blanks(&reader->reading))
		read_pattern(reader);
	reader->reading.at++;
}

/* ((kind ...) @capture (#condition ...)) behind its first bracket: one pattern, then conditions. */
static void read_group(struct reader *reader)
{
	read_pattern(reader);
	for (reading_skip_blanks(&reader->reading); here(reader) == '(';
		reading_skip_blanks(&reader->reading)) {
		reader->reading.at++;
		reading_skip_blanks(&reader->reading);
		if (here(reader) != '#') {
			give_up(reader);
			return;
		}
		reading_skip_inside(&reader->reading);
	}
	if (here(reader) != ')')
		give_up(reader);
	reader->reading.at++;
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than tree-sitter has gone into the same text */
static void read_pattern(struct reader *reader)
{
	char begin = here(reader);

	if (begin == '[') {
		reader->reading.at++;
		read_choice(reader);
	} else if (begin == '"') {
		read_anonymous(reader);
	} else if (begin == '(') {
		reader->reading.at++;
		reading_skip_blanks(&reader->reading);
		if (here(reader) && strchr("([\"", here(reader)))
			read_group(reader);
		else
			read_node(reader);
	} else {
		give_up(reader);
	}
	skip_captures(reader);
}

void roots_read(const TSLanguage *language, const char *text, size_t len, struct roots *ret_roots)
{
	struct reader reader = {
		.reading = { .text = text, .len = len }, .language = language, .roots = ret_roots
	};

	ret_roots->count = 0;
	ret_roots->anywhere = false;
	reading_skip_blanks(&reader.reading);
	read_pattern(&reader);
	reading_skip_blanks(&reader.reading);
	if (reader.reading.at < len || ret_roots->count == 0)
		ret_roots->anywhere = true;
}
