#include "daemon/inspector/literal.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#define KNOWN_LEAST 3 /* so many letters and digits must be known beside the holes */
#define FOREIGN     2 /* replaces a byte that occurs in no list */

struct reader {
	const char *text;
	size_t len;
	size_t at;
	struct name *out;
};

static void literal_put(struct name *out, char byte)
{
	if (byte == LITERAL_HOLE && out->len > 0 && out->text[out->len - 1] == LITERAL_HOLE)
		return;
	if (out->len == NAME_BYTES_MAX) {
		out->cut = true;
		return;
	}
	out->text[out->len++] = byte;
	out->text[out->len] = '\0';
}

static bool more(const struct reader *reader)
{
	return reader->at < reader->len;
}

static char next(const struct reader *reader, size_t ahead)
{
	return (char)(reader->at + ahead < reader->len ? reader->text[reader->at + ahead] : '\0');
}

/* ---- escapes ------------------------------------------------------------------------------- */

static int digit_of(char byte, unsigned base)
{
	unsigned digit = 99;

	if (byte >= '0' && byte <= '9')
		digit = (unsigned)(byte - '0');
	else if ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f')
		digit = (unsigned)((byte | 0x20) - 'a') + 10;
	return digit < base ? (int)digit : -1;
}

/* A number of at most `most` digits. */
static uint32_t take_number(struct reader *reader, unsigned base, size_t most)
{
	uint32_t number = 0;

	for (; most > 0 && digit_of(next(reader, 0), base) >= 0; most--, reader->at++)
		number = number * base + (uint32_t)digit_of(next(reader, 0), base);
	return number;
}

/* Words of lists are ASCII. */
static void put_point(struct name *out, uint32_t point)
{
	literal_put(out, (char)(point > 0x1f && point < 0x7f ? point : FOREIGN));
}

/* How many digits follow the letter of an escape at most. */
static const uint8_t hex_digits[UINT8_MAX + 1] = { ['x'] = 2, ['u'] = 4, ['U'] = 8 };

#define HEX_DIGITS_IN_BRACES 8

/* Reads the digits after the letter: 41, 0041, {41}. */
static void take_hex(struct reader *reader, size_t most)
{
	bool braces = next(reader, 0) == '{';

	reader->at += braces;
	put_point(reader->out, take_number(reader, 16, braces ? HEX_DIGITS_IN_BRACES : most));
	if (braces && next(reader, 0) == '}')
		reader->at++;
}

/* Reads an escape, after its backslash. */
static void take_escape(struct reader *reader)
{
	char kind = next(reader, 0);

	if (digit_of(kind, 8) >= 0) {
		put_point(reader->out, take_number(reader, 8, 3));
		return;
	}
	reader->at++;
	if (kind == '\r' || kind == '\n') /* a line continuation */
		reader->at += kind == '\r' && next(reader, 0) == '\n';
	else if (hex_digits[(uint8_t)kind])
		take_hex(reader, hex_digits[(uint8_t)kind]);
	else
		literal_put(reader->out, (char)(strchr("nrtbfva", kind) ? FOREIGN : kind));
}

/* ---- pieces -------------------------------------------------------------------------------- */

/* Moves past the string in quotes that begins here. */
static void skip_quotes(struct reader *reader)
{
	char quote = next(reader, 0);

	for (reader->at++; more(reader) && next(reader, 0) != quote; reader->at++)
		if (next(reader, 0) == '\\')
			reader->at++;
	reader->at++;
}

/* Moves past the bracket that closes the one here. */
static void skip_brackets(struct reader *reader)
{
	int depth = 0;

	while (more(reader)) {
		char byte = next(reader, 0);

		if (byte && strchr("'\"`", byte)) {
			skip_quotes(reader);
			continue;
		}
		if (byte && strchr("([{", byte))
			depth++;
		else if (byte && strchr(")]}", byte))
			depth--;
		reader->at++;
		if (depth <= 0)
			return;
	}
}

struct prefix {
	bool raw;
	bool holes; /* {...} in it is not constant */
};

/* Reads Python's prefix letters of a string; false when no string follows. */
static bool take_prefix(struct reader *reader, struct prefix *ret_prefix)
{
	size_t letters = 0;

	*ret_prefix = (struct prefix){ false, false };
	while (letters < 3 && next(reader, letters) && strchr("rRbBfFuUtT", next(reader, letters)))
		letters++;
	if (!next(reader, letters) || !strchr("'\"`", next(reader, letters)))
		return false;
	for (; letters > 0; letters--, reader->at++) {
		char letter = (char)(next(reader, 0) | 0x20);

		ret_prefix->raw = ret_prefix->raw || letter == 'r';
		ret_prefix->holes = ret_prefix->holes || letter == 'f' || letter == 't';
	}
	return true;
}

static bool closes(const struct reader *reader, char quote, size_t width)
{
	for (size_t i = 0; i < width; i++)
		if (next(reader, i) != quote)
			return false;
	return true;
}

static void take_string(struct reader *reader, struct prefix prefix)
{
	char quote = next(reader, 0);
	size_t width = next(reader, 1) == quote && next(reader, 2) == quote ? 3 : 1;

	for (reader->at += width; more(reader) && !closes(reader, quote, width);) {
		char byte = next(reader, 0);

		if (byte == '\\' && !prefix.raw) {
			reader->at++;
			take_escape(reader);
		} else if ((byte == '{' && prefix.holes) ||
			   (byte == '$' && next(reader, 1) == '{' && quote == '`')) {
			reader->at += byte == '$';
			skip_brackets(reader);
			literal_put(reader->out, LITERAL_HOLE);
		} else {
			literal_put(reader->out, (char)(byte == LITERAL_HOLE ? FOREIGN : byte));
			reader->at++;
		}
	}
	reader->at += width;
}

/* Reads a part that is not constant, up to the next + or the end. */
static void take_other(struct reader *reader)
{
	literal_put(reader->out, LITERAL_HOLE);
	while (more(reader) && next(reader, 0) != '+' && next(reader, 0) != ')') {
		if (strchr("([{", next(reader, 0)))
			skip_brackets(reader);
		else
			reader->at++;
	}
}

void literal_read(const char *text, size_t len, struct name *ret_literal)
{
	struct reader reader = { .text = text, .len = len, .out = ret_literal };
	struct prefix prefix;

	name_read("", 0, ret_literal);
	while (more(&reader)) {
		char byte = next(&reader, 0);

		if (byte && strchr(" \t\r\n\f\\+()", byte))
			reader.at++;
		else if (take_prefix(&reader, &prefix))
			take_string(&reader, prefix);
		else
			take_other(&reader);
	}
}

/* ---- lists --------------------------------------------------------------------------------- */

bool literal_is_open(const struct name *literal)
{
	return literal->cut || memchr(literal->text, LITERAL_HOLE, literal->len);
}

/* Whether the text before the first hole equals the first `len` bytes of the word. */
static bool begins_alike(const char *text, const char *word, size_t len)
{
	size_t known = strcspn(text, (char[]){ LITERAL_HOLE, '\0' });

	if (known >= len)
		return strncmp(text, word, len) == 0;
	return text[known] == LITERAL_HOLE && known > KNOWN_LEAST &&
	       strncmp(text, word, known) == 0;
}

/* Whether the text can equal the word.  A hole, and a * in the word, stand for anything. */
static bool can_be(const char *text, const char *word)
{
	const char *text_back = NULL;
	const char *word_back = NULL;

	if (word[0] && word[strlen(word) - 1] == '*')
		return begins_alike(text, word, strlen(word) - 1);
	while (*word) {
		if (*text == LITERAL_HOLE) {
			text_back = ++text;
			word_back = word;
		} else if (*text == *word) {
			text++;
			word++;
		} else if (text_back) {
			text = text_back;
			word = ++word_back;
		} else {
			return false;
		}
	}
	while (*text == LITERAL_HOLE)
		text++;
	return *text == '\0';
}

static size_t known_letters(const struct name *literal)
{
	size_t count = 0;

	for (size_t i = 0; i < literal->len; i++)
		count += isalnum((unsigned char)literal->text[i]) != 0;
	return count;
}

bool literal_is_in(const struct name *literal, const struct words *words)
{
	bool open = literal_is_open(literal);

	if (!open && !words->has_stars)
		return words_have(words, literal->text, literal->len);
	if (open && known_letters(literal) < KNOWN_LEAST)
		return false;
	for (uint32_t slot = 0; slot <= words->mask; slot++)
		if (words->slots[slot] && can_be(literal->text, words->slots[slot]))
			return true;
	return false;
}
