#include "cli/web/request.h"

#include <string.h>
#include <strings.h>

#include "proto/base/container.h"
#include "proto/json.h"

#define PARAMS "params="

static const struct json_bounds params_bounds = {
	.bytes = REQUEST_HEAD_MAX, .depth = 4, .nodes = 64
};

/* ---- the head ------------------------------------------------------------------------------ */

/* Where the head ends, its empty line included; 0: not yet. */
static size_t head_end(const char *bytes, size_t len)
{
	const char *end = memmem(bytes, len, "\r\n\r\n", 4);

	return end ? (size_t)(end - bytes) + 4 : 0;
}

/* A letter of a method or of a header's name. */
static bool is_token(char letter)
{
	return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
	       (letter >= '0' && letter <= '9') || (letter && strchr("!#$%&'*+-.^_`|~", letter));
}

/* Ends the line in `*rest` with a NUL, and steps behind it.  NULL: no line, or a sign that is none. */
static char *take_line(char **rest)
{
	char *line = *rest;

	for (char *at = line; *at; at++) {
		if (at[0] == '\r' && at[1] == '\n') {
			at[0] = '\0';
			*rest = at + 2;
			return line;
		}
		if ((unsigned char)*at >= 0x7f || ((unsigned char)*at < 0x20 && *at != '\t'))
			return NULL;
	}
	return NULL;
}

static char *take_word(char **rest)
{
	char *word = *rest;
	char *space = strchr(word, ' ');

	if (!space || space == word)
		return NULL;
	*space = '\0';
	*rest = space + 1;
	return word;
}

static bool read_first_line(char *line, struct web_request *request)
{
	char *method = take_word(&line);
	char *target = method ? take_word(&line) : NULL;
	char *query;

	if (!target || strcmp(line, "HTTP/1.1") != 0 || target[0] != '/' ||
		strpbrk(target, "\t#\\\"<>") != NULL)
		return false;
	for (const char *at = method; *at; at++) {
		if (!is_token(*at))
			return false;
	}
	query = strchr(target, '?');
	if (query)
		*query++ = '\0';
	request->method = method;
	request->path = target;
	request->query = query;
	return true;
}

/* Where the value of a header goes that matters here; NULL: of another. */
static const char **place_of(struct web_request *request, const char *name)
{
	const struct {
		const char *name;
		const char **place;
	} places[] = {
		{ "Host", &request->host },
		{ "Origin", &request->origin },
		{ "Sec-Fetch-Site", &request->site },
		{ "Authorization", &request->authorization },
		{ "Content-Length", &request->body_len },
		{ "Transfer-Encoding", &request->coding },
	};

	for (size_t i = 0; i < COUNT_OF(places); i++) {
		if (strcasecmp(places[i].name, name) == 0)
			return places[i].place;
	}
	return NULL;
}

static bool read_header(char *line, struct web_request *request)
{
	char *value = line;
	const char **place;
	size_t len;

	while (is_token(*value))
		value++;
	if (value == line || *value != ':')
		return false;
	*value++ = '\0';
	value += strspn(value, " \t");
	for (len = strlen(value); len > 0 && strchr(" \t", value[len - 1]); len--)
		value[len - 1] = '\0';
	place = place_of(request, line);
	if (place && *place)
		return false;
	if (place)
		*place = value;
	return true;
}

static enum request_state read_head(char *head, struct web_request *request)
{
	char *line = take_line(&head);

	if (!line || !read_first_line(line, request))
		return REQUEST_BAD;
	for (size_t lines = 0; lines < REQUEST_LINES; lines++) {
		line = take_line(&head);
		if (!line)
			return REQUEST_BAD;
		if (!line[0])
			return request->host ? REQUEST_WHOLE : REQUEST_BAD;
		if (!read_header(line, request))
			return REQUEST_BAD;
	}
	return REQUEST_TOO_LONG;
}

enum request_state request_read(char *bytes, size_t len, struct web_request *ret_request)
{
	size_t end = head_end(bytes, len < REQUEST_HEAD_MAX ? len : REQUEST_HEAD_MAX);

	*ret_request = (struct web_request){ .method = NULL };
	if (end == 0)
		return len < REQUEST_HEAD_MAX ? REQUEST_MORE : REQUEST_TOO_LONG;
	if (memchr(bytes, '\0', end))
		return REQUEST_BAD;
	bytes[end] = '\0';
	return read_head(bytes, ret_request);
}

/* ---- params -------------------------------------------------------------------------------- */

static int hex_digit(char digit)
{
	static const char digits[] = "0123456789abcdef";
	const char *found = digit ? strchr(digits, digit | 0x20) : NULL;

	return found ? (int)(found - digits) : -1;
}

/* Decodes in place.  -1: a '%' without its two digits, or a NUL. */
static int decode_percent(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		bool coded = *from == '%';
		int high = coded ? hex_digit(from[1]) : 0;
		int low = coded && high >= 0 ? hex_digit(from[2]) : 0;

		if (high < 0 || low < 0 || (coded && high + low == 0))
			return -1;
		/* The sign that is written may be the one that was read. */
		if (coded)
			*to++ = (char)(unsigned char)(high << 4 | low);
		else
			*to++ = *from;
		from += coded ? 2 : 0;
	}
	*to = '\0';
	return 0;
}

int request_params(
	struct arena *arena, const char *query, struct value **ret_params, struct err *err)
{
	size_t before = strlen(PARAMS);
	struct value *params = value_map(arena);
	char *text = query ? arena_strdup(arena, query) : NULL;

	if (!params || (query && !text))
		return err_set(err, ERR_MEMORY, "no memory");
	if (!query) {
		*ret_params = params;
		return 0;
	}
	if (strncmp(text, PARAMS, before) != 0 || decode_percent(text) < 0)
		return err_set(err, ERR_INVALID,
			"the query must be params= and a JSON map with percent-encoded signs");
	if (json_parse(arena, text + before, strlen(text + before), &params_bounds, &params, err) <
		0)
		return err_wrap(err, "params");
	if (!value_is(params, VALUE_MAP))
		return err_set(err, ERR_INVALID, "params must be a map");
	*ret_params = params;
	return 0;
}
