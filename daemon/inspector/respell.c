#include "daemon/inspector/respell.h"

#include <string.h>

#define SUBSCRIPT_MAX 256U

static bool is_name(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
	       (byte >= '0' && byte <= '9') || byte == '_';
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

static char at_or_nul(const char *text, size_t len, size_t at)
{
	return (char)(at < len ? text[at] : '\0');
}

/* The bracket that closes the plain subscript after `open`; 0 when it is not plain. */
static size_t end_of_subscript(const char *text, size_t len, size_t open)
{
	for (size_t at = open + 1; at < len && at - open < SUBSCRIPT_MAX; at++) {
		if (text[at] == ']')
			return at;
		if (!is_blank(text[at]) && !is_name(text[at]))
			return 0;
	}
	return 0;
}

static size_t begin_of_name(const char *text, size_t end)
{
	while (end > 0 && is_name(text[end - 1]))
		end--;
	return end;
}

/* Where a command may begin, so that a name with a subscript begins an assignment. */
static bool begins_command(const char *text, size_t at)
{
	while (at > 0 && is_blank(text[at - 1]))
		at--;
	if (at == 0)
		return true;
	if (text[at - 1] == '\n')
		return at < 2 || text[at - 2] != '\\';
	return text[at - 1] == ';' && (at < 2 || text[at - 2] != '\\');
}

static bool is_assigned(const char *text, size_t len, size_t close)
{
	size_t at = close + 1;

	if (at_or_nul(text, len, at) == '+')
		at++;
	return at_or_nul(text, len, at) == '=';
}

static bool is_expansion(const char *text, size_t name)
{
	size_t at = name;

	if (at > 0 && (text[at - 1] == '!' || text[at - 1] == '#'))
		at--;
	return at > 1 && text[at - 1] == '{' && text[at - 2] == '$';
}

/* Replaces the blanks in a subscript by letters of a word. */
static bool join_subscript(char *text, size_t len, size_t open)
{
	size_t name = begin_of_name(text, open);
	size_t close = end_of_subscript(text, len, open);
	bool changed = false;

	if (name == open || close == 0)
		return false;
	if (!is_expansion(text, name) &&
		!(begins_command(text, name) && is_assigned(text, len, close)))
		return false;
	for (size_t at = open + 1; at < close; at++)
		if (is_blank(text[at])) {
			text[at] = '_';
			changed = true;
		}
	return changed;
}

/* Whether `<<` is followed by a plain name, in quotes or not, to which nothing is joined. */
static bool is_plain_delimiter(const char *text, size_t len, size_t at)
{
	char quote = '\0';
	size_t begin;

	if (at_or_nul(text, len, at) == '-')
		at++;
	while (is_blank(at_or_nul(text, len, at)))
		at++;
	if (at_or_nul(text, len, at) == '\'' || at_or_nul(text, len, at) == '"')
		quote = text[at++];
	for (begin = at; is_name(at_or_nul(text, len, at)); at++)
		;
	if (at == begin || (quote && at_or_nul(text, len, at++) != quote))
		return false;
	return at >= len || memchr(" \t\n;|&)>", text[at], 9);
}

static bool has_odd_delimiter(const char *text, size_t len)
{
	for (size_t at = 0; at + 1 < len; at++) {
		if (text[at] != '<' || text[at + 1] != '<')
			continue;
		at += 2;
		if (at_or_nul(text, len, at) != '<' && !is_plain_delimiter(text, len, at))
			return true;
	}
	return false;
}

bool respell_bash(char *copy, size_t len)
{
	bool changed = false;

	if (has_odd_delimiter(copy, len))
		return false;

	for (size_t at = 0; at < len; at++) {
		if (copy[at] == '[') {
			changed |= join_subscript(copy, len, at);
		} else if (copy[at] == '<' && at_or_nul(copy, len, at + 1) == '>' &&
			   (at == 0 || (copy[at - 1] != '<' && copy[at - 1] != '\\')) &&
			   at_or_nul(copy, len, at + 2) != '>' &&
			   at_or_nul(copy, len, at + 2) != '(') {
			copy[at] = '>';
			changed = true;
		}
	}
	return changed;
}
