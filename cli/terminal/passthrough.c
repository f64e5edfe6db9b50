#include "cli/terminal/passthrough.h"

#include "proto/base/buf.h"

#define PIECE      ((size_t)64 << 10)
#define ESCAPE_MAX 12 /* no byte becomes longer than this */

static void write_safe(struct passthrough *stream, const char *bytes, size_t len)
{
	struct buf buf;

	buf_init(&buf, PIECE * ESCAPE_MAX + 64);
	while (len > 0) {
		size_t piece = len < PIECE ? len : PIECE;

		(void)safe_feed(&stream->safe, &buf, bytes, piece);
		(void)fwrite(buf.bytes, 1, buf.len, stream->out->file);
		buf_consume(&buf, buf.len);
		bytes += piece;
		len -= piece;
	}
	buf_done(&buf);
}

void passthrough_init(struct passthrough *stream, const struct output *out)
{
	*stream = (struct passthrough){ .out = out, .escape = out->terminal };
}

void passthrough_write(struct passthrough *stream, const char *bytes, size_t len)
{
	if (len == 0)
		return;
	stream->passed += len;
	stream->mid_line = bytes[len - 1] != '\n';
	if (stream->escape)
		write_safe(stream, bytes, len);
	else
		(void)fwrite(bytes, 1, len, stream->out->file);
	(void)fflush(stream->out->file);
}

void passthrough_write_at(
	struct passthrough *stream, uint64_t offset, const char *bytes, size_t len)
{
	uint64_t known = stream->passed > offset ? stream->passed - offset : 0;

	if (known < len)
		passthrough_write(stream, bytes + known, len - (size_t)known);
}

void passthrough_end(struct passthrough *stream)
{
	struct buf buf;

	buf_init(&buf, sizeof(stream->safe.held) * ESCAPE_MAX);
	(void)safe_flush(&stream->safe, &buf);
	(void)fwrite(buf.bytes ? buf.bytes : "", 1, buf.len, stream->out->file);
	buf_done(&buf);
	if (stream->mid_line && stream->out->terminal)
		(void)fputc('\n', stream->out->file);
	stream->mid_line = false;
	(void)fflush(stream->out->file);
}
