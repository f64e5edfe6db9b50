#include "cli/mcp/jsonrpc.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/base/safe.h"
#include "proto/json.h"

#define READ_BYTES ((size_t)64 << 10)
#define OUT_MAX    ((size_t)512 << 20)
#define ERROR_MAX  ((size_t)16 << 10)

/* ---- stdin --------------------------------------------------------------------------------- */

void jsonrpc_in_init(struct jsonrpc_in *in)
{
	*in = (struct jsonrpc_in){ .ended = false };
	buf_init(&in->line, JSONRPC_LINE_MAX + READ_BYTES);
}

void jsonrpc_in_done(struct jsonrpc_in *in)
{
	buf_done(&in->line);
}

void jsonrpc_in_read(struct jsonrpc_in *in, int fd)
{
	ssize_t got;

	if (buf_reserve(&in->line, READ_BYTES) < 0) {
		in->ended = true;
		return;
	}
	got = read(fd, in->line.bytes + in->line.len, READ_BYTES);
	if (got > 0)
		in->line.len += (size_t)got;
	else if (got == 0 || (errno != EINTR && errno != EAGAIN))
		in->ended = true;
}

/* The index of the first newline, or the length. */
static size_t find_newline(struct jsonrpc_in *in)
{
	const char *from = in->line.bytes + in->looked;
	const char *newline =
		in->line.len > in->looked ? memchr(from, '\n', in->line.len - in->looked) : NULL;

	in->looked = newline ? (size_t)(newline - in->line.bytes) : in->line.len;
	return in->looked;
}

static bool is_blank(const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!strchr(" \t\r", line[i]) || !line[i])
			return false;
	}
	return true;
}

void jsonrpc_in_next(struct jsonrpc_in *in, size_t len)
{
	buf_consume(&in->line, len < in->line.len ? len + 1 : len);
	in->looked = 0;
}

/* Drops what came of a line that is too long; says so once, at its start. */
static enum jsonrpc_line skip_long(struct jsonrpc_in *in)
{
	bool begins = !in->skips;

	in->skips = true;
	buf_consume(&in->line, in->line.len);
	in->looked = 0;
	return begins ? JSONRPC_TOO_LONG : JSONRPC_NONE;
}

enum jsonrpc_line jsonrpc_in_line(struct jsonrpc_in *in, const char **ret_line, size_t *ret_len)
{
	for (;;) {
		size_t len = find_newline(in);
		bool whole = len < in->line.len ||
			     (in->ended && len > 0); /* the last line may have no newline */

		if (!whole)
			return in->skips || len > JSONRPC_LINE_MAX ? skip_long(in) : JSONRPC_NONE;
		if (!in->skips && !is_blank(in->line.bytes, len)) {
			*ret_line = in->line.bytes;
			*ret_len = len;
			return JSONRPC_LINE;
		}
		in->skips = false;
		jsonrpc_in_next(in, len);
	}
}

/* ---- stdout -------------------------------------------------------------------------------- */

void jsonrpc_out_init(struct jsonrpc_out *out)
{
	*out = (struct jsonrpc_out){ .broken = false };
	buf_init(&out->bytes, OUT_MAX);
}

void jsonrpc_out_done(struct jsonrpc_out *out)
{
	buf_done(&out->bytes);
}

/*
 * A pipe that poll() calls writable takes PIPE_BUF bytes without waiting; a socket is asked not to
 * wait.  The descriptor is not made nonblocking: other processes may share it.
 */
static ssize_t write_some(int fd, const char *bytes, size_t len)
{
	ssize_t sent = send(fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (sent >= 0 || errno != ENOTSOCK)
		return sent;
	return write(fd, bytes, len < PIPE_BUF ? len : PIPE_BUF);
}

void jsonrpc_out_write(struct jsonrpc_out *out, int fd)
{
	ssize_t sent = write_some(fd, out->bytes.bytes, out->bytes.len);

	if (sent > 0)
		buf_consume(&out->bytes, (size_t)sent);
	else if (sent < 0 && errno != EINTR && errno != EAGAIN)
		out->broken = true;
}

/* Appends {"jsonrpc":"2.0",...,KEY:VALUE} as one line; leaves nothing of it on failure. */
static int write_line(struct jsonrpc_out *out, const char *front, const struct value *id,
	const char *key, const struct value *value)
{
	size_t before = out->bytes.len;
	struct err err = ERR_INIT;
	int status = buf_printf(&out->bytes, "{\"jsonrpc\":\"2.0\",%s", front);

	if (status == 0 && id)
		status = json_write(&out->bytes, id, JSON_WRITE_COMPACT, &err);
	if (status == 0)
		status = buf_printf(&out->bytes, "%s\"%s\":", id ? "," : "", key);
	if (status == 0)
		status = json_write(&out->bytes, value, JSON_WRITE_BASE64, &err);
	if (status == 0)
		status = buf_append_text(&out->bytes, "}\n");
	if (status < 0)
		out->bytes.len = before;
	return status;
}

void jsonrpc_result(struct jsonrpc_out *out, const struct value *id, const struct value *result)
{
	if (result && write_line(out, "\"id\":", id, "result", result) == 0)
		return;
	jsonrpc_error(out, id, JSONRPC_INTERNAL,
		"cectl has no memory for this answer; ask for less at a time");
}

void jsonrpc_error(struct jsonrpc_out *out, const struct value *id, enum jsonrpc_code code,
	const char *format, ...)
{
	char text[ERR_TEXT_MAX];
	struct value null = { .type = VALUE_NIL };
	struct arena arena;
	struct buf safe;
	struct value *error;
	va_list args;

	va_start(args, format);
	cut_vprintf(text, sizeof(text), format, args);
	va_end(args);
	arena_init(&arena, ERROR_MAX);
	buf_init(&safe, ERROR_MAX / 2);
	error = value_map(&arena);
	value_map_put(&arena, error, "code", value_int(&arena, code));
	(void)safe_append(&safe, SAFE_BLOCK, text, strlen(text));
	value_map_put(&arena, error, "message",
		value_text_len(&arena, safe.bytes ? safe.bytes : "", safe.len));
	buf_done(&safe);
	if (!value_ok(&arena) || write_line(out, "\"id\":", id ? id : &null, "error", error) < 0)
		out->broken = true;
	arena_done(&arena);
}

void jsonrpc_notify(struct jsonrpc_out *out, const char *method, const struct value *params)
{
	struct arena arena;
	const char *front;

	arena_init(&arena, ERROR_MAX);
	front = arena_printf(&arena, "\"method\":\"%s\",", method);
	if (front && params)
		(void)write_line(out, front, NULL, "params", params);
	arena_done(&arena);
}
