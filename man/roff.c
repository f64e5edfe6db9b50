#include "man/roff.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* A character that roff would read as something else. */
static void put_char(FILE *out, char c)
{
	switch (c) {
	case '\\':
		fputs("\\e", out);
		break;
	case '-': /* a plain "-" may become a typographic hyphen, which no shell understands */
		fputs("\\-", out);
		break;
	case '\'':
		fputs("\\(aq", out);
		break;
	case '`':
		fputs("\\(ga", out);
		break;
	case '^':
		fputs("\\(ha", out);
		break;
	case '~':
		fputs("\\(ti", out);
		break;
	default:
		fputc(c, out);
	}
}

/* At the start of a line a period would begin a request. */
static void put_line_start(FILE *out, const char *text)
{
	if (*text == '.')
		fputs("\\&", out);
}

static bool ends_sentence(const char *text, const char *at)
{
	return at > text && at[0] == ' ' && at[-1] == '.' &&
	       isupper((unsigned char)at[strspn(at, " ")]);
}

void roff_prose(FILE *out, const char *text)
{
	bool bold = false;

	put_line_start(out, text);
	for (const char *at = text; *at; at++) {
		if (*at == '`' && (bold || strchr(at + 1, '`'))) {
			bold = !bold;
			fputs(bold ? "\\fB" : "\\fR", out);
		} else if (strncmp(at, "\n\n", 2) == 0) {
			fputs("\n.Pp", out);
		} else if (*at == '\n' || ends_sentence(text, at)) {
			fputc('\n', out);
			at += strspn(at + 1, " ");
			put_line_start(out, at + 1);
		} else {
			put_char(out, *at);
		}
	}
	fputc('\n', out);
}

void roff_literal(FILE *out, const char *text)
{
	put_line_start(out, text);
	for (; *text; text++) {
		put_char(out, *text);
		if (*text == '\n')
			put_line_start(out, text + 1);
	}
	fputc('\n', out);
}

void roff_argument(FILE *out, const char *text)
{
	fputs(" \"", out);
	for (; *text; text++) {
		if (*text == '"')
			fputs("\\(dq", out);
		else
			put_char(out, *text);
	}
	fputc('"', out);
}
