#include "daemon/door/notification.h"

#include "proto/wire/rpc.h"

int notification_write_output(struct buf *buf, const char *run_id, const char *stream,
	uint64_t offset, struct bytes piece, struct err *err)
{
	struct arena arena;
	struct value *params;
	int written;

	arena_init(&arena, 4096);
	params = value_map(&arena);
	value_map_put(&arena, params, "run_id", value_text(&arena, run_id));
	value_map_put(&arena, params, "stream", value_text(&arena, stream));
	value_map_put(&arena, params, "offset", value_uint(&arena, offset));
	value_map_put(&arena, params, "data", value_blob_borrowed(&arena, piece.data, piece.len));
	written = rpc_write_notification(buf, "run.output", params, err);
	arena_done(&arena);
	return written;
}

int notification_write_started(
	struct buf *buf, const char *run_id, uint32_t msgid, const char *id, struct err *err)
{
	struct arena arena;
	struct value *started;
	int written;

	arena_init(&arena, 4096);
	started = value_map(&arena);
	value_map_put(&arena, started, "run_id", value_text(&arena, run_id));
	value_map_put(&arena, started, "msgid", value_uint(&arena, msgid));
	if (id)
		value_map_put(&arena, started, "id", value_text(&arena, id));
	written = rpc_write_notification(buf, "run.started", started, err);
	arena_done(&arena);
	return written;
}
