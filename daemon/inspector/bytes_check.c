#include "daemon/inspector/bytes_check.h"

#include <limits.h>
#include <string.h>
#include <strings.h>

#include "proto/base/container.h"
#include "proto/base/utf8.h"

static bool check_size(const char *code, size_t len, struct findings *findings)
{
	(void)code;
	if (len <= INSPECT_CODE_MAX)
		return true;
	findings_add(findings, INSPECT_BYTES_SIZE, WEIGHT_DENY, 0, 0);
	return false;
}

static bool check_nul(const char *code, size_t len, struct findings *findings)
{
	const char *nul = memchr(code, '\0', len);

	if (!nul)
		return true;
	findings_add(findings, INSPECT_BYTES_NUL, WEIGHT_DENY, (uint32_t)(nul - code),
		(uint32_t)(nul - code));
	return false;
}

static bool check_utf8(const char *code, size_t len, struct findings *findings)
{
	size_t at = 0;

	if (utf8_is_valid(code, len))
		return true;
	while (at < len) {
		size_t before = at;

		if (utf8_next(code, len, &at) < 0) {
			findings_add(findings, INSPECT_BYTES_UTF8, WEIGHT_DENY, (uint32_t)before,
				(uint32_t)before);
			break;
		}
	}
	return false;
}

static bool check_cr(const char *code, size_t len, struct findings *findings)
{
	const char *end = code + len;

	for (const char *at = memchr(code, '\r', len); at;
		at = memchr(at, '\r', (size_t)(end - at))) {
		uint32_t place = (uint32_t)(at - code);

		at++;
		if (at == end || *at != '\n') {
			findings_add(findings, INSPECT_BYTES_CR, WEIGHT_DENY, place, place);
			return false;
		}
	}
	return true;
}

/* The length of a line without its end. */
static size_t line_len(const char *line, size_t len)
{
	const char *end = memchr(line, '\n', len);

	return end ? (size_t)(end - line) : len;
}

static size_t count_of(const char *text, size_t len, const char *set)
{
	size_t count = 0;

	while (count < len && text[count] && strchr(set, text[count]))
		count++;
	return count;
}

#define COOKIE_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

/* The encoding that a comment declares; its length, 0 when it declares none. */
static size_t cookie_in(const char *line, size_t len, const char **ret_cookie)
{
	static const char word[] = "coding";
	const size_t word_len = sizeof(word) - 1;

	for (size_t at = 0; at + word_len < len; at++) {
		size_t name = at + word_len;
		size_t name_len;

		if (memcmp(line + at, word, word_len) != 0 ||
			(line[name] != ':' && line[name] != '='))
			continue;
		name++;
		name += count_of(line + name, len - name, " \t");
		name_len = count_of(line + name, len - name, COOKIE_BYTES);
		if (name_len > 0) {
			*ret_cookie = line + name;
			return name_len;
		}
	}
	return 0;
}

/* Encodings under which CPython reads the bytes as we do. */
static bool cookie_is_ours(const char *cookie, size_t len)
{
	static const char *const names[] = { "utf-8", "utf_8", "utf8", "ascii", "us-ascii" };

	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (strlen(names[i]) == len && strncasecmp(names[i], cookie, len) == 0)
			return true;
	/* Emacs writes utf-8-unix; CPython ignores everything after the second dash. */
	return len > 6 && strncasecmp(cookie, "utf-8-", 6) == 0;
}

/* As CPython's tokenizer: in the first line, or in the second after an empty or comment line. */
static bool check_cookie(const char *code, size_t len, struct findings *findings)
{
	size_t at = len >= 3 && memcmp(code, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

	for (int line = 0; line < 2 && at < len; line++) {
		size_t end = at + line_len(code + at, len - at);
		size_t text = at + count_of(code + at, end - at, " \t\f\r");
		const char *cookie = NULL;
		size_t cookie_len;

		if (text < end && code[text] != '#')
			return true;
		cookie_len = cookie_in(code + text, end - text, &cookie);
		if (cookie_len > 0 && !cookie_is_ours(cookie, cookie_len)) {
			uint32_t place = (uint32_t)(cookie - code);

			findings_add(findings, INSPECT_BYTES_COOKIE, WEIGHT_DENY, place,
				place + (uint32_t)cookie_len);
			return false;
		}
		if (cookie_len > 0)
			return true;
		at = end + 1;
	}
	return true;
}

/* The place after the string that begins at `at` with a quote, or the end of the text. */
static size_t skip_string(const char *code, size_t len, size_t at)
{
	char quote = code[at];
	bool triple = len - at >= 3 && code[at + 1] == quote && code[at + 2] == quote;

	for (at += triple ? 3 : 1; at < len; at++) {
		if (code[at] == '\\')
			at++;
		else if (code[at] == '\n' && !triple)
			return at;
		else if (code[at] != quote)
			continue;
		else if (!triple)
			return at + 1;
		else if (len - at >= 3 && code[at + 1] == quote && code[at + 2] == quote)
			return at + 3;
	}
	return len;
}

/* The place after the comment, the string or the byte that begins at `at`. */
static size_t skip_thing(const char *code, size_t len, size_t at)
{
	if (code[at] == '#')
		return at + line_len(code + at, len - at);
	if (code[at] == '"' || code[at] == '\'')
		return skip_string(code, len, at);
	return at + 1;
}

/* Whether the byte has no special meaning for skip_thing() and depth_step(). */
static bool is_plain(char byte)
{
	static const bool marks[UCHAR_MAX + 1] = { ['#'] = true,
		['"'] = true,
		['\''] = true,
		['('] = true,
		[')'] = true,
		['['] = true,
		[']'] = true,
		['{'] = true,
		['}'] = true };

	return !marks[(unsigned char)byte];
}

static int depth_step(char byte)
{
	if (byte == '(' || byte == '[' || byte == '{')
		return 1;
	return byte == ')' || byte == ']' || byte == '}' ? -1 : 0;
}

bool bytes_join_lines(const char *code, size_t len)
{
	int depth = 0;

	for (size_t at = 0; at < len; at = skip_thing(code, len, at)) {
		if (code[at] == '\\')
			at += at + 1 < len && code[at + 1] == '\r' ? 2 : 1;
		else if (code[at] == '\n' && depth <= 0)
			return true;
		else
			depth += depth_step(code[at]);
	}
	return false;
}

/*
 * Brackets in strings and comments do not count, as far as they can be told apart without a
 * parser.
 */
static bool check_depth(const char *code, size_t len, struct findings *findings)
{
	uint32_t depth = 0;

	for (size_t at = 0; at < len; at = skip_thing(code, len, at)) {
		int step;

		if (is_plain(code[at]))
			continue;
		step = depth_step(code[at]);
		if (step > 0 || depth > 0)
			depth += (uint32_t)step;
		if (depth > BYTES_DEPTH_MAX) {
			findings_add(findings, INSPECT_BYTES_DEPTH, WEIGHT_DENY, (uint32_t)at,
				(uint32_t)at + 1);
			return false;
		}
	}
	return true;
}

/* The first form feed that follows other leading blanks of a line with text, or NULL. */
static const char *form_feed_in(const char *line, size_t len)
{
	size_t text = count_of(line, len, " \t\f\r");

	return text > 1 && text < len ? memchr(line + 1, '\f', text - 1) : NULL;
}

/* For the indentation, Python ignores the blanks before a form feed. */
static bool check_form_feed(const char *code, size_t len, struct findings *findings)
{
	if (!memchr(code, '\f', len))
		return true;
	for (size_t at = 0; at < len;) {
		size_t end = line_len(code + at, len - at);
		const char *feed = form_feed_in(code + at, end);

		if (feed) {
			findings_add(findings, INSPECT_BYTES_FORM_FEED, WEIGHT_DENY,
				(uint32_t)(feed - code), (uint32_t)(feed - code));
			break;
		}
		at += end + 1;
	}
	return true;
}

/* U+202A to U+202E and U+2066 to U+2069 change the order in which the text is displayed. */
static bool check_bidi(const char *code, size_t len, struct findings *findings)
{
	const char *end = code + len;

	for (const char *at = memchr(code, 0xe2, len); at && end - at >= 3;
		at = memchr(at + 1, 0xe2, (size_t)(end - at - 1))) {
		unsigned char second = (unsigned char)at[1];
		unsigned char third = (unsigned char)at[2];

		if ((second == 0x80 && third >= 0xaa && third <= 0xae) ||
			(second == 0x81 && third >= 0xa6 && third <= 0xa9)) {
			findings_add(findings, INSPECT_BYTES_BIDI, WEIGHT_DENY,
				(uint32_t)(at - code), (uint32_t)(at - code));
			break;
		}
	}
	return true;
}

bool bytes_check(const char *code, size_t len, struct findings *findings)
{
	/* The later checks rely on the earlier ones. */
	static bool (*const checks[])(const char *code, size_t len, struct findings *findings) = {
		check_size,
		check_nul,
		check_utf8,
		check_cr,
		check_cookie,
		check_depth,
		check_form_feed,
		check_bidi,
	};
	bool readable = true;

	for (size_t i = 0; i < COUNT_OF(checks); i++)
		readable = checks[i](code, len, findings) && readable;
	return readable;
}
