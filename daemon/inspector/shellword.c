#include "daemon/inspector/shellword.h"

#include <string.h>

/* Outside of quotes these are expanded, or would have ended the word. */
static const char expanding[] = "$`*?[]{}~!<>()|&;";

struct reader {
	const char *text;
	size_t len;
	size_t at;
	bool open;
	struct name *out;
};

static char next(const struct reader *reader, size_t ahead)
{
	return (char)(reader->at + ahead < reader->len ? reader->text[reader->at + ahead] : '\0');
}

static void append(struct reader *reader, char byte)
{
	path_append(reader->out, &byte, 1);
}

/* A byte of the text that equals LITERAL_HOLE must not look like a hole. */
static void shellword_put(struct reader *reader, char byte)
{
	append(reader, (char)(byte == LITERAL_HOLE ? 2 : byte));
}

static void put_hole(struct reader *reader)
{
	const struct name *out = reader->out;

	reader->open = true;
	if (out->len == 0 || out->text[out->len - 1] != LITERAL_HOLE)
		append(reader, LITERAL_HOLE);
}

/* Moves past the closing bracket. */
static void skip_brackets(struct reader *reader)
{
	int depth = 0;

	while (reader->at < reader->len) {
		char byte = next(reader, 0);

		depth += byte == '(' || byte == '{';
		depth -= byte == ')' || byte == '}';
		reader->at++;
		if (depth <= 0)
			return;
	}
}

/* Moves past $name, ${...}, $(...) or `...`, from its first sign. */
static void skip_expansion(struct reader *reader)
{
	bool tick = next(reader, 0) == '`';

	reader->at++;
	if (tick) {
		while (reader->at < reader->len && next(reader, 0) != '`')
			reader->at++;
		reader->at++;
	} else if (next(reader, 0) == '(' || next(reader, 0) == '{') {
		skip_brackets(reader);
	} else {
		size_t span = name_span(reader->text + reader->at, reader->len - reader->at);

		reader->at += span > 0 ? span : 1;
	}
	put_hole(reader);
}

/* Reads a string in double quotes, from the first quote. */
static void take_quoted(struct reader *reader)
{
	for (reader->at++; reader->at < reader->len && next(reader, 0) != '"';) {
		char byte = next(reader, 0);

		if (byte == '$' || byte == '`') {
			skip_expansion(reader);
			continue;
		}
		if (byte == '\\' && next(reader, 1) && strchr("$`\"\\\n", next(reader, 1))) {
			reader->at++;
			byte = next(reader, 0);
		}
		if (byte != '\n')
			shellword_put(reader, byte);
		reader->at++;
	}
	reader->at++;
}

static void take_raw(struct reader *reader)
{
	for (reader->at++; reader->at < reader->len && next(reader, 0) != '\''; reader->at++)
		shellword_put(reader, next(reader, 0));
	reader->at++;
}

/* A backslash quotes the next byte, and removes a newline. */
static void take_escaped(struct reader *reader)
{
	if (next(reader, 1) && next(reader, 1) != '\n')
		shellword_put(reader, next(reader, 1));
	reader->at += 2;
}

/* $'...' may contain letters as numbers, which ordinary programs do not use in names. */
static bool take_ansi(struct reader *reader)
{
	if (next(reader, 0) != '$' || next(reader, 1) != '\'')
		return false;
	for (reader->at += 2; reader->at < reader->len && next(reader, 0) != '\''; reader->at++)
		if (next(reader, 0) == '\\')
			reader->at++;
	reader->at++;
	put_hole(reader);
	return true;
}

static bool take_expansion(struct reader *reader)
{
	char byte = next(reader, 0);

	if (!byte || !strchr(expanding, byte))
		return false;
	if (byte == '$' && next(reader, 1) == '"') {
		reader->at++; /* $"...": as "...", in the user's language */
	} else if (byte == '$' || byte == '`') {
		skip_expansion(reader);
	} else if (byte == '{') {
		skip_brackets(reader);
		put_hole(reader);
	} else {
		reader->at++;
		put_hole(reader);
	}
	return true;
}

static void take_one(struct reader *reader)
{
	char byte = next(reader, 0);

	if (byte == '"') {
		take_quoted(reader);
	} else if (byte == '\'') {
		take_raw(reader);
	} else if (byte == '\\') {
		take_escaped(reader);
	} else if (!take_ansi(reader) && !take_expansion(reader)) {
		shellword_put(reader, byte);
		reader->at++;
	}
}

static bool is_continued(const char *behind)
{
	return behind[0] == '\\' && behind[1] == '\n' && behind[2] && !strchr(" \t\n", behind[2]);
}

bool shellword_read(const char *text, size_t len, const char *behind, struct name *ret_word)
{
	struct reader reader = { .text = text, .len = len, .out = ret_word };

	name_read("", 0, ret_word);
	if (len == 1 && text[0] == '[') { /* a command of its own */
		shellword_put(&reader, '[');
		return true;
	}
	while (reader.at < len)
		take_one(&reader);
	if (is_continued(behind))
		put_hole(&reader);
	return !reader.open;
}

bool shellword_is_plain_delimiter(const char *text, size_t len)
{
	if (len >= 2 && (text[0] == '\'' || text[0] == '"')) {
		if (text[len - 1] != text[0])
			return false;
		text++;
		len -= 2;
	}
	if (len == 0 || len > 128)
		return false;
	return name_span(text, len) == len;
}

bool shellword_hides_backtick(const char *text, size_t len)
{
	if (len == 0 || text[0] != '`')
		return false;
	for (size_t at = 1; at + 1 < len; at++)
		if (text[at] == '\\' && strchr("`$\\", text[at + 1]))
			return true;
	return false;
}

bool shellword_hides_subscript(const char *text, size_t len)
{
	if (len > 0 && text[0] == '"') /* the part without escapes is checked as it is */
		return memmem(text, len, "[\\$(", 4) || memmem(text, len, "[\\`", 3);
	return memmem(text, len, "[$(", 3) || memmem(text, len, "[`", 2);
}

bool shellword_is_sum(const char *text, size_t len)
{
	int depth = 0;

	if (len < 6 || memcmp(text, "$((", 3) != 0 || memcmp(text + len - 2, "))", 2) != 0)
		return false;
	for (size_t at = 3; at < len - 2; at++) {
		if (strchr("`\"'\\", text[at]) || (text[at] == '$' && text[at + 1] == '('))
			return false;
		depth += text[at] == '(';
		depth -= text[at] == ')';
		if (depth < 0)
			return false;
	}
	return depth == 0;
}
