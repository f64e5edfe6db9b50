#include "cli/commands/cell_text.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "cli/commands/shell_text.h"
#include "proto/base/container.h"

struct scan {
	const char *at, *end;
	unsigned open;  /* brackets */
	char quote;     /* of the text that is open; 0: none */
	bool is_triple; /* ... and it may have several lines */
	bool is_block;
	bool goes_on; /* the last line ends with a backslash */
	bool is_empty;
	bool is_wrong; /* a text has no end on its line */
	char last;     /* character of the line, but for blanks */
};

static bool are_three(const struct scan *scan)
{
	return scan->end - scan->at >= 3 && scan->at[1] == scan->at[0] &&
	       scan->at[2] == scan->at[0];
}

static void scan_in_text(struct scan *scan)
{
	if (*scan->at == '\\' && scan->end - scan->at > 1)
		scan->at++;
	else if (*scan->at == scan->quote && scan->is_triple && are_three(scan)) {
		scan->at += 2;
		scan->quote = 0;
	} else if (*scan->at == scan->quote && !scan->is_triple)
		scan->quote = 0;
	scan->last = '"';
	scan->is_empty = false;
	scan->at++;
}

static void begin_text(struct scan *scan)
{
	scan->quote = *scan->at;
	scan->is_triple = are_three(scan);
	scan->at += scan->is_triple ? 3 : 1;
}

static void end_line(struct scan *scan)
{
	scan->is_block |= !scan->open && scan->last == ':';
	scan->goes_on = scan->last == '\\';
	scan->last = 0;
	scan->is_wrong = scan->quote && !scan->is_triple;
}

static void skip_comment(struct scan *scan)
{
	while (scan->at < scan->end && *scan->at != '\n')
		scan->at++;
}

static void scan_character(struct scan *scan)
{
	const char c = *scan->at++;

	if (strchr("([{", c))
		scan->open++;
	else if (strchr(")]}", c) && scan->open)
		scan->open--;
	if (!isspace((unsigned char)c)) {
		scan->last = c;
		scan->is_empty = false;
	}
}

static void scan_plain(struct scan *scan)
{
	const char c = *scan->at;

	if (c == '#') {
		skip_comment(scan);
		return;
	}
	if (c == '\'' || c == '"') {
		begin_text(scan);
		scan->is_empty = false;
		return;
	}
	scan->is_block |= c == '@' && scan->is_empty;
	scan_character(scan);
}

static bool is_python_complete(struct bytes text)
{
	struct scan scan = { .at = text.data, .end = text.data + text.len, .is_empty = true };
	bool ends_empty = false;

	while (scan.at < scan.end && !scan.is_wrong) {
		if (*scan.at == '\n') {
			end_line(&scan);
			ends_empty = scan.is_empty;
			scan.is_empty = true;
			scan.at++;
		} else if (scan.quote) {
			scan_in_text(&scan);
		} else {
			scan_plain(&scan);
		}
	}
	if (scan.is_wrong)
		return true; /* the interpreter tells it */
	if (scan.open || scan.quote || scan.goes_on)
		return false;
	return !scan.is_block || ends_empty;
}

/* ---- JavaScript ----------------------------------------------------------------------------- */

/* What is read until its end, which a newline is too where `ends_with_line`. */
static const struct part {
	const char *begin, *end;
	bool ends_with_line, escapes;
} parts[] = {
	{ "//", "\n", true, false }, { "/*", "*/", false, false }, { "'", "'", true, true },
	{ "\"", "\"", true, true }, { "`", "`", false, true },
	{ "/", "/", true, true }, /* a regular expression */
};

static bool begins_with(const struct scan *scan, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(scan->end - scan->at) >= len && memcmp(scan->at, word, len) == 0;
}

/* A slash behind a value divides it. */
static bool is_division(const struct scan *scan, const struct part *part)
{
	return strcmp(part->begin, "/") == 0 && scan->last &&
	       !strchr("(,=:[!&|?{};+-*%<>~^", scan->last);
}

/* Moves behind the part.  False: it is still open. */
static bool skip_part(struct scan *scan, const struct part *part)
{
	bool in_class = false; /* where a slash ends no regular expression */

	for (scan->at += strlen(part->begin); scan->at < scan->end; scan->at++) {
		if (!in_class && begins_with(scan, part->end)) {
			scan->at += strlen(part->end);
			return true;
		}
		if (part->ends_with_line && *scan->at == '\n')
			return true;
		if (part->escapes && *scan->at == '\\' && scan->end - scan->at > 1)
			scan->at++;
		else if (part->end[0] == '/')
			in_class = *scan->at == '[' || (in_class && *scan->at != ']');
	}
	return part->ends_with_line;
}

static const struct part *part_here(const struct scan *scan)
{
	for (size_t i = 0; i < COUNT_OF(parts); i++)
		if (begins_with(scan, parts[i].begin))
			return is_division(scan, &parts[i]) ? NULL : &parts[i];
	return NULL;
}

static bool is_javascript_complete(struct bytes text)
{
	struct scan scan = { .at = text.data, .end = text.data + text.len };

	while (scan.at < scan.end) {
		const struct part *part = part_here(&scan);

		if (!part) {
			scan_character(&scan);
			continue;
		}
		if (!skip_part(&scan, part))
			return false;
		if (part->escapes)
			scan.last = '"';
	}
	return !scan.open;
}

/* ---- all of them ---------------------------------------------------------------------------- */

enum cell_language cell_language_of(const char *runtime)
{
	if (strstr(runtime, "javascript") || strstr(runtime, "node"))
		return CELL_JAVASCRIPT;
	return strstr(runtime, "bash") ? CELL_BASH : CELL_PYTHON;
}

bool cell_text_is_complete(struct bytes text, enum cell_language language)
{
	static bool (*const complete[])(struct bytes text) = {
		[CELL_PYTHON] = is_python_complete,
		[CELL_JAVASCRIPT] = is_javascript_complete,
		[CELL_BASH] = shell_text_is_complete,
	};

	return complete[language](text);
}
