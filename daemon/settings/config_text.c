#include "daemon/settings/config_text.h"

#include <string.h>

#define NO_MEMORY       "no memory for the configuration"
#define BYTE_ORDER_MARK "\xef\xbb\xbf" /* some editors write it at the start of a file */

enum token_kind {
	TOKEN_END,
	TOKEN_WORD,
	TOKEN_QUOTED,
	TOKEN_MARK, /* one of = { } , */
};

struct token {
	enum token_kind kind;
	char mark;
	const char *text;
	unsigned line;
};

struct reader {
	struct arena *arena;
	const char *at;
	unsigned line;
	struct token token;               /* the current token */
	const struct config_item *before; /* the last whole item of this section, or NULL */
	struct err *err;
};

static int fault(struct reader *reader, unsigned line, const char *what)
{
	return err_set(reader->err, ERR_INVALID, "line %u: %s", line, what);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static void skip_line(struct reader *reader)
{
	reader->at += strcspn(reader->at, "\n");
}

static int skip_long_comment(struct reader *reader)
{
	unsigned begun = reader->line;

	for (reader->at += 2; *reader->at; reader->at++) {
		if (reader->at[0] == '*' && reader->at[1] == '/') {
			reader->at += 2;
			return 0;
		}
		reader->line += *reader->at == '\n';
	}
	return fault(reader, begun, "this comment has no end: write */ where it ends");
}

/* Whether a comment begins here that ends with its line. */
static bool is_line_comment(const char *at)
{
	return *at == '#' || (at[0] == '/' && at[1] == '/');
}

/* Skips blanks and comments. */
static int skip_blanks(struct reader *reader)
{
	for (;;) {
		const char *at = reader->at;

		if (is_line_comment(at)) {
			skip_line(reader);
		} else if (at[0] == '/' && at[1] == '*') {
			if (skip_long_comment(reader) < 0)
				return -1;
		} else if (*at && strchr(" \t\r\n", *at)) {
			reader->line += *at == '\n';
			reader->at++;
		} else {
			return 0;
		}
	}
}

static char unescaped(char letter)
{
	switch (letter) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	default:
		return letter;
	}
}

/* The bytes up to the quote that ends a text, or to the end of the line. */
static size_t quoted_len(const char *text, char quote)
{
	const char *at = text;

	while (*at && *at != quote && *at != '\n')
		at += quote == '"' && *at == '\\' && at[1] && at[1] != '\n' ? 2 : 1;
	return (size_t)(at - text);
}

/* A backslash escapes the next character in double quotes, and means itself in single quotes. */
static int read_quoted(struct reader *reader)
{
	char quote = *reader->at++;
	const char *end = reader->at + quoted_len(reader->at, quote);
	char *text = arena_alloc(reader->arena, (size_t)(end - reader->at) + 1);
	size_t len = 0;

	if (!text)
		return err_set(reader->err, ERR_MEMORY, NO_MEMORY);
	while (reader->at < end) {
		if (quote == '"' && *reader->at == '\\' && reader->at + 1 < end) {
			text[len++] = unescaped(reader->at[1]);
			reader->at += 2;
		} else {
			text[len++] = *reader->at++;
		}
	}
	if (*reader->at != quote)
		return fault(reader, reader->line,
			quote == '"' ? "this text has no end: write \" after it, on the same line"
				     : "this text has no end: write ' after it, on the same line");
	reader->at++;
	text[len] = '\0';
	reader->token.kind = TOKEN_QUOTED;
	reader->token.text = text;
	return 0;
}

static int read_word(struct reader *reader)
{
	size_t len = strcspn(reader->at, " \t\r\n={}(),#;\"'");

	/* A comment may follow a word directly: 4//four. */
	for (size_t i = 0; i + 1 < len; i++)
		if (reader->at[i] == '/' && (reader->at[i + 1] == '/' || reader->at[i + 1] == '*'))
			len = i;
	if (!len)
		return err_set(reader->err, ERR_INVALID,
			"line %u: \"%c\" has no meaning here: remove it, or write the text in quotes",
			reader->line, *reader->at);
	reader->token.kind = TOKEN_WORD;
	reader->token.text = arena_copy(reader->arena, reader->at, len);
	reader->at += len;
	return reader->token.text ? 0 : err_set(reader->err, ERR_MEMORY, NO_MEMORY);
}

static int advance(struct reader *reader)
{
	if (skip_blanks(reader) < 0)
		return -1;
	reader->token = (struct token){ .line = reader->line };
	switch (*reader->at) {
	case '\0':
		return 0;
	case '=':
	case '{':
	case '}':
	case ',':
		reader->token.kind = TOKEN_MARK;
		reader->token.mark = *reader->at++;
		return 0;
	case '"':
	case '\'':
		return read_quoted(reader);
	default:
		return read_word(reader);
	}
}

static bool is_mark(const struct reader *reader, char mark)
{
	return reader->token.kind == TOKEN_MARK && reader->token.mark == mark;
}

static bool is_text(const struct reader *reader)
{
	return reader->token.kind == TOKEN_WORD || reader->token.kind == TOKEN_QUOTED;
}

/* ---- items ----------------------------------------------------------------------------------- */

static int add_value(
	struct reader *reader, struct config_item *item, const struct config_value ***tail)
{
	struct config_value *value = arena_new(reader->arena, struct config_value);

	if (!value)
		return err_set(reader->err, ERR_MEMORY, NO_MEMORY);
	value->text = reader->token.text;
	value->line = reader->token.line;
	**tail = value;
	*tail = &value->next;
	item->value_count++;
	return advance(reader);
}

/* Reads the rest after "name = {". */
static int read_list(struct reader *reader, struct config_item *item)
{
	const struct config_value **tail = &item->values;

	item->shape = CONFIG_IS_LIST;
	while (!is_mark(reader, '}')) {
		if (is_mark(reader, ','))
			return err_set(reader->err, ERR_INVALID,
				"line %u: a value is missing before this comma in the list %s",
				reader->token.line, item->name);
		if (is_mark(reader, '='))
			return err_set(reader->err, ERR_INVALID,
				"line %u: %s = { ... } is a list: write %s { ... }, without =, for a section",
				item->line, item->name, item->name);
		if (!is_text(reader))
			return err_set(reader->err, ERR_INVALID,
				"line %u: the list %s, begun on line %u, has no end: write %s = {a, b}",
				reader->token.line, item->name, item->line, item->name);
		if (add_value(reader, item, &tail) < 0)
			return -1;
		if (is_mark(reader, ',')) {
			if (advance(reader) < 0)
				return -1;
		} else if (is_text(reader)) {
			return err_set(reader->err, ERR_INVALID,
				"line %u: a comma is missing before \"%s\" in the list %s, or } after its last value",
				reader->token.line, reader->token.text, item->name);
		}
	}
	return advance(reader);
}

/* Reads the rest after "name =". */
static int read_value(struct reader *reader, struct config_item *item)
{
	const struct config_value **tail = &item->values;

	if (is_mark(reader, '{'))
		return advance(reader) < 0 ? -1 : read_list(reader, item);
	if (reader->token.kind == TOKEN_WORD && reader->token.text[0] == '[')
		return err_set(reader->err, ERR_INVALID,
			"line %u: a list is in braces, not in brackets: write %s = {a, b}",
			reader->token.line, item->name);
	if (!is_text(reader) || reader->token.line != item->line)
		return err_set(reader->err, ERR_INVALID,
			"line %u: %s has no value: write it after =, on the same line", item->line,
			item->name);
	return add_value(reader, item, &tail);
}

static int read_items(struct reader *reader, struct config_item *section, unsigned depth);

/* Reads the rest after "name", or "name title". */
static int read_section(struct reader *reader, struct config_item *item, unsigned depth)
{
	item->shape = CONFIG_IS_SECTION;
	if (depth == CONFIG_DEPTH_MAX)
		return fault(reader, item->line, "sections are nested too deeply");
	if (advance(reader) < 0 || read_items(reader, item, depth + 1) < 0)
		return -1;
	if (!is_mark(reader, '}'))
		return err_set(reader->err, ERR_INVALID,
			"line %u: the section %s%s%s, begun on line %u, has no end: write } where it ends",
			reader->token.line, item->name, item->title[0] ? " " : "", item->title,
			item->line);
	return advance(reader);
}

/* Refuses a word behind a value.  People write "5 s", "90 days" and texts with spaces. */
static int refuse_second(struct reader *reader, const char *word)
{
	const struct config_item *before = reader->before;
	const char *value = before->values->text;
	const bool is_unit = strlen(word) < 4 && strspn(word, "dhminsgkbDHMINSGKB") == strlen(word);
	const bool is_number = value[0] >= '0' && value[0] <= '9';

	if (is_number)
		return err_set(reader->err, ERR_INVALID, "line %u: \"%s\" behind %s = %s: %s",
			before->line, word, before->name, value,
			is_unit ? "a unit follows its number without a space, as in 5s or 5mb"
				: "leave it out, write a unit such as s or mb without a space, or a list as {a, b}");
	return err_set(reader->err, ERR_INVALID,
		"line %u: \"%s\" behind %s = %s: put a value with spaces in double quotes, and a list in braces: {a, b}",
		before->line, word, before->name, value);
}

/* Refuses a lone name.  People also write "queue_max: 4" and "[limits]". */
static int what_is(struct reader *reader, const struct config_item *item)
{
	const struct config_item *before = reader->before;
	const char *name = item->name + strspn(item->name, "[");
	int len = (int)strcspn(name, ":]");

	if (before && before->shape == CONFIG_IS_VALUE && before->line == item->line)
		return refuse_second(reader, item->name);
	return err_set(reader->err, ERR_INVALID,
		"line %u: \"%s\" is neither a setting nor a section: write %.*s = VALUE or %.*s { ... }",
		item->line, item->name, len, name, len, name);
}

static int read_item(struct reader *reader, struct config_item *item, unsigned depth)
{
	item->name = reader->token.text;
	item->title = "";
	item->line = reader->token.line;
	if (advance(reader) < 0)
		return -1;
	if (is_mark(reader, '='))
		return advance(reader) < 0 ? -1 : read_value(reader, item);
	if (is_text(reader) && reader->token.line == item->line) {
		item->title = reader->token.text;
		if (advance(reader) < 0)
			return -1;
	}
	if (is_mark(reader, '{'))
		return read_section(reader, item, depth);
	return what_is(reader, item);
}

/* Reads up to the end of the text, or of the section. */
static int read_items(struct reader *reader, struct config_item *section, unsigned depth)
{
	struct config_item **tail = &section->items;

	reader->before = NULL;
	while (reader->token.kind != TOKEN_END && !is_mark(reader, '}')) {
		struct config_item *item;

		if (is_mark(reader, ','))
			return fault(reader, reader->token.line,
				"settings are not separated by commas: remove this one");
		if (reader->token.kind != TOKEN_WORD)
			return fault(reader, reader->token.line,
				"the name of a setting or section is missing");
		item = arena_new(reader->arena, struct config_item);
		if (!item)
			return err_set(reader->err, ERR_MEMORY, NO_MEMORY);
		if (read_item(reader, item, depth) < 0)
			return -1;
		reader->before = item;
		*tail = item;
		tail = &item->next;
	}
	return 0;
}

struct config_item *config_text_read(struct arena *arena, const char *text, struct err *err)
{
	const char *begin = text + (strncmp(text, BYTE_ORDER_MARK, 3) == 0 ? 3 : 0);
	struct reader reader = { .arena = arena, .at = begin, .line = 1, .err = err };
	struct config_item *whole = arena_new(arena, struct config_item);

	if (!whole) {
		(void)err_set(err, ERR_MEMORY, NO_MEMORY);
		return NULL;
	}
	whole->name = whole->title = "";
	whole->shape = CONFIG_IS_SECTION;
	if (advance(&reader) < 0 || read_items(&reader, whole, 0) < 0)
		return NULL;
	if (reader.token.kind != TOKEN_END) {
		(void)fault(&reader, reader.token.line,
			"this } ends no section: remove it, or look for a section that ends too early");
		return NULL;
	}
	return whole;
}
