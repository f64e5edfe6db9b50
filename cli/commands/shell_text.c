#include "cli/commands/shell_text.h"

#include <string.h>

#include "proto/base/container.h"

#define DEPTH_MAX 128
#define HERE_MAX  8

/* A here-document whose lines come behind the present one. */
struct here {
	const char *word;
	size_t len;
	bool strips_tabs;
};

/*
 * What would end each thing that is open: ) } " ' ` as they are, `f` for fi, `e` for esac, `d` for done, `a`
 * for )), `p` for the bracket of ${.
 */
struct scan {
	const char *at, *end;
	char open[DEPTH_MAX];
	size_t depth;
	bool is_command; /* a word here would be a command */
	bool goes_on;    /* the last thing in the line wants more */
	bool is_here_open;
	struct here heres[HERE_MAX];
	size_t here_count;
};

static char innermost(const struct scan *scan)
{
	if (scan->depth == 0)
		return 0;
	return scan->open[scan->depth - 1];
}

static void push(struct scan *scan, char end)
{
	if (scan->depth < DEPTH_MAX)
		scan->open[scan->depth++] = end;
}

static void pop(struct scan *scan, char end)
{
	if (innermost(scan) == end)
		scan->depth--;
}

static bool begins_with(const struct scan *scan, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(scan->end - scan->at) >= len && memcmp(scan->at, text, len) == 0;
}

/* ---- words ---------------------------------------------------------------------------------- */

/* Words that open or close something, and whether a command follows. */
static const struct keyword {
	const char *word;
	char opens, closes;
	bool then_command;
} keywords[] = {
	{ "if", 'f', 0, true },
	{ "then", 0, 0, true },
	{ "elif", 0, 0, true },
	{ "else", 0, 0, true },
	{ "fi", 0, 'f', false },
	{ "while", 'd', 0, true },
	{ "until", 'd', 0, true },
	{ "for", 'd', 0, false },
	{ "select", 'd', 0, false },
	{ "do", 0, 0, true },
	{ "done", 0, 'd', false },
	{ "case", 'e', 0, false },
	{ "esac", 0, 'e', false },
	{ "{", '}', 0, true },
	{ "}", 0, '}', false },
	{ "!", 0, 0, true },
	{ "time", 0, 0, true },
};

static size_t word_len(const struct scan *scan)
{
	size_t len = 0;

	while (scan->at + len < scan->end && !strchr(" \t\n;&|()<>\"'`$\\", scan->at[len]))
		len++;
	return len;
}

static const struct keyword *keyword_of(const char *word, size_t len)
{
	for (size_t i = 0; i < COUNT_OF(keywords); i++)
		if (strlen(keywords[i].word) == len && memcmp(keywords[i].word, word, len) == 0)
			return &keywords[i];
	return NULL;
}

/* `esac` may stand where a pattern could. */
static void take_word(struct scan *scan)
{
	size_t len = word_len(scan);
	const bool may_be_key = scan->is_command || innermost(scan) == 'e';
	const struct keyword *key = may_be_key ? keyword_of(scan->at, len) : NULL;

	scan->is_command = key && key->then_command;
	if (key && key->opens && innermost(scan) != 'a')
		push(scan, key->opens);
	if (key && key->closes)
		pop(scan, key->closes);
	scan->at += len ? len : 1;
	scan->goes_on = false;
}

/* ---- here-documents ------------------------------------------------------------------------- */

static void take_here(struct scan *scan)
{
	struct here here = { .word = NULL };

	scan->at += 2;
	here.strips_tabs = scan->at < scan->end && *scan->at == '-';
	scan->at += here.strips_tabs;
	while (scan->at < scan->end && strchr(" \t'\"\\", *scan->at))
		scan->at++;
	here.word = scan->at;
	here.len = word_len(scan);
	scan->at += here.len;
	if (scan->at < scan->end && strchr("'\"", *scan->at))
		scan->at++;
	if (here.len && scan->here_count < HERE_MAX)
		scan->heres[scan->here_count++] = here;
}

static bool is_end_of(const struct here *here, const char *line, size_t len)
{
	while (here->strips_tabs && len && *line == '\t') {
		line++;
		len--;
	}
	return len == here->len && memcmp(line, here->word, len) == 0;
}

/* Moves behind the line that ends it; false: there is none yet. */
static bool skip_here(struct scan *scan, const struct here *here)
{
	while (scan->at < scan->end) {
		const char *line = scan->at;
		const char *end = memchr(line, '\n', (size_t)(scan->end - line));
		size_t len = (size_t)((end ? end : scan->end) - line);

		scan->at = end ? end + 1 : scan->end;
		if (is_end_of(here, line, len))
			return true;
	}
	return false;
}

static void end_line(struct scan *scan)
{
	scan->at++;
	for (size_t i = 0; i < scan->here_count; i++)
		scan->is_here_open |= !skip_here(scan, &scan->heres[i]);
	scan->here_count = 0;
	scan->is_command = true;
}

/* ---- everything else ------------------------------------------------------------------------ */

static void skip_single_quotes(struct scan *scan)
{
	const char *end = memchr(scan->at + 1, '\'', (size_t)(scan->end - scan->at - 1));

	scan->at = end ? end + 1 : scan->end;
	if (!end)
		push(scan, '\'');
}

static void skip_comment(struct scan *scan)
{
	while (scan->at < scan->end && *scan->at != '\n')
		scan->at++;
}

/* What opens or closes something, the longer ones first.  A bracket behind a pattern of `case` closes nothing. */
static const struct sign {
	const char *text;
	char opens, closes;
	bool then_command, goes_on;
	bool in_text; /* also between double quotes */
} signs[] = {
	{ "$((", 'a', 0, false, false, true },
	{ "$(", ')', 0, true, false, true },
	{ "${", 'p', 0, false, false, true },
	{ "((", 'a', 0, false, false, false },
	{ "))", 0, 'a', false, false, true },
	{ "(", ')', 0, true, false, false },
	{ ")", 0, ')', true, false, true },
	{ "}", 0, 'p', false, false, true },
	{ "&&", 0, 0, true, true, false },
	{ "||", 0, 0, true, true, false },
	{ "|", 0, 0, true, true, false },
	{ "&", 0, 0, true, false, false },
	{ ";", 0, 0, true, false, false },
};

/* Where only quotes and what begins with $ count. */
static bool is_in_text(const struct scan *scan)
{
	return innermost(scan) == '"' || innermost(scan) == 'p';
}

/* A bracket that closes what is not open is part of a word or a pattern. */
static bool fits(const struct scan *scan, const struct sign *sign)
{
	if (!begins_with(scan, sign->text))
		return false;
	if (is_in_text(scan) && !sign->in_text)
		return false;
	return !sign->closes || sign->closes == innermost(scan) ||
	       (sign->closes == ')' && innermost(scan) == 'e');
}

static bool take_sign(struct scan *scan)
{
	for (size_t i = 0; i < COUNT_OF(signs); i++) {
		const struct sign *sign = &signs[i];

		if (!fits(scan, sign))
			continue;
		if (sign->opens)
			push(scan, sign->opens);
		if (sign->closes)
			pop(scan, sign->closes);
		scan->is_command = sign->then_command;
		scan->goes_on = sign->goes_on;
		scan->at += strlen(sign->text);
		return true;
	}
	return false;
}

static void take_quote(struct scan *scan)
{
	const char quote = *scan->at++;

	if (innermost(scan) == quote)
		pop(scan, quote);
	else
		push(scan, quote);
	scan->is_command = quote == '`' && innermost(scan) == quote;
	scan->goes_on = false;
}

static void take_escape(struct scan *scan)
{
	const bool is_last =
		scan->end - scan->at <= 2 && scan->at + 1 < scan->end && scan->at[1] == '\n';

	scan->at += scan->end - scan->at > 1 ? 2 : 1;
	scan->is_command = false;
	scan->goes_on = is_last;
}

static void take_in_text(struct scan *scan)
{
	if (*scan->at == '\\')
		take_escape(scan);
	else if (*scan->at == '"' || *scan->at == '`')
		take_quote(scan);
	else if (!take_sign(scan))
		scan->at++;
}

static bool is_here(const struct scan *scan)
{
	return begins_with(scan, "<<") && !begins_with(scan, "<<<") && innermost(scan) != 'a';
}

static bool is_comment(const struct scan *scan, const char *begin)
{
	return *scan->at == '#' && (scan->at == begin || strchr(" \t\n;&|(", scan->at[-1]));
}

static void take_plain(struct scan *scan)
{
	const char c = *scan->at;

	if (c == '\n')
		end_line(scan);
	else if (strchr(" \t", c))
		scan->at++;
	else if (c == '\\')
		take_escape(scan);
	else if (c == '\'')
		skip_single_quotes(scan);
	else if (c == '"' || c == '`')
		take_quote(scan);
	else if (begins_with(scan, "<<<"))
		scan->at += 3;
	else if (is_here(scan))
		take_here(scan);
	else if (!take_sign(scan))
		take_word(scan);
}

bool shell_text_is_complete(struct bytes text)
{
	struct scan scan = { .at = text.data, .end = text.data + text.len, .is_command = true };

	while (scan.at < scan.end) {
		if (is_in_text(&scan))
			take_in_text(&scan);
		else if (is_comment(&scan, text.data))
			skip_comment(&scan);
		else
			take_plain(&scan);
	}
	return !scan.depth && !scan.goes_on && !scan.is_here_open && !scan.here_count;
}
