#include "daemon/settings/complaint.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/utf8.h"

#define LINES_MAX   8    /* lines from the end in which a form with a type is searched */
#define LINE_MAX    4096 /* longer lines match no form */
#define MESSAGE_MAX 2048
#define NUMBER_MAX  9     /* digits */
#define WORK_MAX    20000 /* steps for all forms and lines: under a millisecond */

struct line {
	const char *text;
	size_t len;
};

struct fit {
	const char *file; /* the program's file name */
	struct line message;
	struct line type;
	long line, column;
	unsigned *work; /* steps that are left */
};

/* ---- one form against one line -------------------------------------------------------------- */

static bool starts_with(struct line rest, const char *text, size_t len)
{
	return rest.len >= len && memcmp(rest.text, text, len) == 0;
}

static struct line without(struct line rest, size_t len)
{
	return (struct line){ rest.text + len, rest.len - len };
}

static bool take_number(struct line *rest, long *ret_number)
{
	char digits[NUMBER_MAX + 1] = "";
	size_t len = 0;

	while (len < rest->len && rest->text[len] >= '0' && rest->text[len] <= '9')
		len++;
	if (len == 0 || len > NUMBER_MAX)
		return false;
	memcpy(digits, rest->text, len);
	*ret_number = strtol(digits, NULL, 10);
	*rest = without(*rest, len);
	return true;
}

static bool spend(struct fit *fit, unsigned steps)
{
	*fit->work = *fit->work > steps ? *fit->work - steps : 0;
	return *fit->work > 0;
}

static bool fits(const char *form, struct line rest, bool open_end, struct fit *fit);

/* Matches any text, the longest first, because the rest of the form may occur in it too. */
static bool fits_after_text(
	const char *form, struct line rest, bool open_end, bool is_message, struct fit *fit)
{
	if (!spend(fit, (unsigned)(rest.len / 64)))
		return false;
	for (size_t len = rest.len; len > 0 && *fit->work > 0; len--) {
		if (*form && *form != '%' && (len == rest.len || rest.text[len] != *form))
			continue; /* the form cannot match here */
		if (!fits(form, without(rest, len), open_end, fit))
			continue;
		if (is_message)
			fit->message = (struct line){ rest.text, len };
		return true;
	}
	return false;
}

static bool fits_place(
	char place, const char *form, struct line rest, bool open_end, struct fit *fit)
{
	size_t file_len = strlen(fit->file);

	switch (place) {
	case 'f':
		return starts_with(rest, fit->file, file_len) &&
		       fits(form, without(rest, file_len), open_end, fit);
	case 'l':
		return take_number(&rest, &fit->line) && fits(form, rest, open_end, fit);
	case 'c':
		return take_number(&rest, &fit->column) && fits(form, rest, open_end, fit);
	case 'M':
		fit->message = rest;
		return fits(form, rest, true, fit);
	default:
		return fits_after_text(form, rest, open_end, place == 'm', fit);
	}
}

static bool fits(const char *form, struct line rest, bool open_end, struct fit *fit)
{
	size_t plain = strcspn(form, "%");

	if (!spend(fit, 1) || !starts_with(rest, form, plain))
		return false;
	rest = without(rest, plain);
	form += plain;
	if (*form == '\0')
		return open_end || rest.len == 0;
	return fits_place(form[1], form + 2, rest, open_end, fit);
}

/* ---- forms ---------------------------------------------------------------------------------- */

/* Removes "(Type) " from the front. */
static const char *take_type(const char *form, struct line *ret_type)
{
	const char *end = form[0] == '(' ? strstr(form, ") ") : NULL;

	*ret_type = end ? (struct line){ form + 1, (size_t)(end - form) - 1 } : (struct line){ 0 };
	return end ? end + 2 : form;
}

bool complaint_is_form(const char *form)
{
	struct line type;
	unsigned texts = 0;
	bool has_line = false;

	form = take_type(form, &type);
	for (const char *at = strchr(form, '%'); at; at = strchr(at + 2, '%')) {
		if (at[1] == '\0' || !strchr("flcmxM", at[1]))
			return false;
		has_line = has_line || at[1] == 'l';
		texts += at[1] == 'm' || at[1] == 'x';
	}
	return has_line && texts <= 3; /* each more multiplies the work */
}

/* ---- the last lines ------------------------------------------------------------------------- */

/* Removes the last non-empty line from the end. */
static bool take_last(struct line *text, struct line *ret_line)
{
	const char *start;

	while (text->len > 0 && strchr("\r\n", text->text[text->len - 1]))
		text->len--;
	if (text->len == 0)
		return false;
	start = memrchr(text->text, '\n', text->len);
	start = start ? start + 1 : text->text;
	*ret_line = (struct line){ start, (size_t)(text->text + text->len - start) };
	text->len = (size_t)(start - text->text);
	return ret_line->len <= LINE_MAX;
}

static bool find(
	const char *form, const char *file, struct line text, unsigned *work, struct fit *fit)
{
	struct line type;
	struct line line;
	const char *rest = take_type(form, &type);
	int lines = type.len ? LINES_MAX : 1;

	for (int i = 0; i < lines && take_last(&text, &line); i++) {
		*fit = (struct fit){ .file = file, .type = type };
		fit->work = work;
		if (fits(rest, line, false, fit))
			return true;
	}
	return false;
}

/* ---- as a value ----------------------------------------------------------------------------- */

static struct value *text_of(struct arena *arena, struct line line)
{
	size_t len = line.len < MESSAGE_MAX ? line.len : MESSAGE_MAX;

	while (len > 0 && len < line.len && (line.text[len] & 0xc0) == 0x80)
		len--; /* do not split a character */
	return utf8_is_valid(line.text, len) ? value_text_len(arena, line.text, len)
					     : value_text(arena, "");
}

/* Returns the program's line with this number. */
static struct line source_line(struct bytes code, long number)
{
	struct line rest = { code.data, code.len };
	const char *end;

	for (; number > 1; number--) {
		end = memchr(rest.text, '\n', rest.len);
		if (!end)
			return (struct line){ "", 0 };
		rest = without(rest, (size_t)(end - rest.text) + 1);
	}
	end = rest.len ? memchr(rest.text, '\n', rest.len) : NULL;
	return (struct line){ rest.text, end ? (size_t)(end - rest.text) : rest.len };
}

static struct value *error_of(struct arena *arena, const struct fit *fit, struct bytes code)
{
	static const struct line plain = { "Error", 5 };
	struct value *map = value_map(arena);

	value_map_put(arena, map, "type", text_of(arena, fit->type.len ? fit->type : plain));
	value_map_put(arena, map, "message", text_of(arena, fit->message));
	value_map_put(arena, map, "line", value_int(arena, fit->line));
	if (fit->column)
		value_map_put(arena, map, "column", value_int(arena, fit->column));
	if (fit->line > 0)
		value_map_put(arena, map, "text", text_of(arena, source_line(code, fit->line)));
	return map;
}

struct value *complaint_find(struct arena *arena, const char *const *forms,
	const struct job_spec *spec, const char *text, size_t len)
{
	unsigned work = WORK_MAX;
	struct fit fit;

	for (; text && *forms; forms++)
		if (find(*forms, spec->entrypoint, (struct line){ text, len }, &work, &fit))
			return error_of(arena, &fit, spec->code);
	return NULL;
}
