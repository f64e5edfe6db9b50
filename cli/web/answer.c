#include "cli/web/answer.h"

#include <string.h>

#include "proto/base/arena.h"
#include "proto/base/container.h"
#include "proto/json.h"

#define JSON_TYPE   "application/json"
#define TEXT_TYPE   "text/plain; charset=utf-8"
#define STREAM_TYPE "text/event-stream"

#define ERROR_BYTES ((size_t)64 << 10)

/*
 * Scripts, styles and pictures come from here and run only as files.  Trusted Types close the ways
 * from a text to HTML, should a mistake of the page ever open one.
 */
static const char safety[] = "Cache-Control: no-store\r\n"
			     "Content-Security-Policy: default-src 'none'; script-src 'self'; "
			     "style-src 'self'; connect-src 'self'; img-src 'self' data:; "
			     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
			     "require-trusted-types-for 'script'; trusted-types 'none'\r\n"
			     "Cross-Origin-Embedder-Policy: require-corp\r\n"
			     "Cross-Origin-Opener-Policy: same-origin\r\n"
			     "Cross-Origin-Resource-Policy: same-origin\r\n"
			     "Referrer-Policy: no-referrer\r\n"
			     "X-Content-Type-Options: nosniff\r\n"
			     "X-Frame-Options: DENY\r\n"
			     "Connection: close\r\n";

static const struct {
	unsigned status;
	const char *words;
	const char *header; /* one more */
} statuses[] = {
	{ 200, "OK", "" },
	{ 400, "Bad Request", "" },
	{ 401, "Unauthorized", "WWW-Authenticate: Bearer\r\n" },
	{ 403, "Forbidden", "" },
	{ 404, "Not Found", "" },
	{ 405, "Method Not Allowed", "Allow: GET\r\n" },
	{ 408, "Request Timeout", "" },
	{ 413, "Content Too Large", "" },
	{ 431, "Request Header Fields Too Large", "" },
	{ 500, "Internal Server Error", "" },
	{ 503, "Service Unavailable", "" },
	{ 504, "Gateway Timeout", "" },
};

static int put_head(struct buf *out, unsigned status, const char *type)
{
	size_t row = 0;

	while (row + 1 < COUNT_OF(statuses) && statuses[row].status != status)
		row++;
	buf_consume(out, out->len);
	return buf_printf(out, "HTTP/1.1 %u %s\r\n%s%sContent-Type: %s\r\n", status,
		statuses[row].words, safety, statuses[row].header, type);
}

int answer_bytes(struct buf *out, unsigned status, const char *type, const void *body, size_t len)
{
	if (put_head(out, status, type) == 0 &&
		buf_printf(out, "Content-Length: %zu\r\n\r\n", len) == 0 &&
		buf_append(out, body, len) == 0)
		return 0;
	buf_consume(out, out->len);
	return -1;
}

int answer_text(struct buf *out, unsigned status, const char *text)
{
	struct buf line;
	int made;

	buf_init(&line, ERROR_BYTES);
	made = buf_printf(&line, "%s\n", text);
	if (made == 0)
		made = answer_bytes(out, status, TEXT_TYPE, line.bytes, line.len);
	buf_done(&line);
	return made;
}

int answer_value(struct buf *out, unsigned status, const struct value *value)
{
	struct buf json;
	int made;

	buf_init(&json, ANSWER_BYTES_MAX);
	made = json_write(&json, value, JSON_WRITE_BASE64, NULL);
	if (made == 0)
		made = answer_bytes(out, status, JSON_TYPE, json.bytes, json.len);
	buf_done(&json);
	return made;
}

/* {"error": ...} */
static int put_error(struct buf *out, unsigned status, const struct value *error)
{
	struct arena arena;
	struct value *document;
	int made = -1;

	arena_init(&arena, 2 * ERROR_BYTES);
	document = value_map(&arena);
	(void)value_map_put(&arena, document, "error", value_copy(&arena, error));
	if (value_ok(&arena))
		made = answer_value(out, status, document);
	arena_done(&arena);
	return made;
}

int answer_error(struct buf *out, unsigned status, const char *code, const char *message)
{
	struct arena arena;
	struct value *error;
	int made = -1;

	arena_init(&arena, ERROR_BYTES);
	error = value_map(&arena);
	(void)value_map_put(&arena, error, "code", value_text(&arena, code));
	(void)value_map_put(&arena, error, "message", value_text(&arena, message));
	if (value_ok(&arena))
		made = put_error(out, status, error);
	arena_done(&arena);
	return made;
}

int answer_refusal(struct buf *out, const struct value *error)
{
	static const struct {
		const char *code;
		unsigned status;
	} codes[] = {
		{ "bad_request", 400 },
		{ "unknown_method", 404 },
		{ "forbidden", 403 },
		{ "not_found", 404 },
		{ "too_large", 413 },
		{ "busy", 503 },
		{ "draining", 503 },
	};
	const char *code = value_as_text(value_get(error, "code"));

	for (size_t i = 0; code && i < COUNT_OF(codes); i++) {
		if (strcmp(codes[i].code, code) == 0)
			return put_error(out, codes[i].status, error);
	}
	return put_error(out, 500, error);
}

int answer_stream(struct buf *out)
{
	if (put_head(out, 200, STREAM_TYPE) == 0 && buf_append_text(out, "\r\n") == 0)
		return 0;
	buf_consume(out, out->len);
	return -1;
}

int answer_event(struct buf *out, const struct value *event)
{
	size_t before = out->len;

	if (buf_append_text(out, "data: ") == 0 &&
		json_write(out, event, JSON_WRITE_BASE64, NULL) == 0 &&
		buf_append_text(out, "\n\n") == 0)
		return 0;
	out->len = before;
	return -1;
}
