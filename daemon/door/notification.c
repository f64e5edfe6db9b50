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

int notification_write_call(struct buf *buf, const struct call_notice *notice, struct err *err)
{
	struct arena arena;
	struct value *asked;
	int written;

	arena_init(&arena, 4096);
	asked = value_map(&arena);
	value_map_put(&arena, asked, "run_id", value_text(&arena, notice->run_id));
	value_map_put(&arena, asked, "call", value_uint(&arena, notice->call));
	value_map_put(&arena, asked, "tool", value_text(&arena, notice->tool));
	/* Only maps and lists take values that may change; writing changes none. */
	value_map_put(&arena, asked, "args", (struct value *)(uintptr_t)notice->args);
	value_map_put(&arena, asked, "deadline_us", value_int(&arena, notice->deadline_us));
	written = rpc_write_notification(buf, "run.call", asked, err);
	arena_done(&arena);
	return written;
}

int notification_write_call_asked(
	struct buf *buf, const struct call_asked_notice *notice, struct err *err)
{
	struct arena arena;
	struct value *waits;
	int written;

	arena_init(&arena, 4096);
	waits = value_map(&arena);
	value_map_put(&arena, waits, "run_id", value_text(&arena, notice->run_id));
	value_map_put(&arena, waits, "call", value_uint(&arena, notice->call));
	value_map_put(&arena, waits, "tool", value_text(&arena, notice->tool));
	value_map_put(&arena, waits, "policy", value_text(&arena, notice->policy));
	if (notice->rule)
		value_map_put(&arena, waits, "rule", value_text(&arena, notice->rule));
	value_map_put(&arena, waits, "until_us", value_int(&arena, notice->until_us));
	written = rpc_write_notification(buf, "run.call_asked", waits, err);
	arena_done(&arena);
	return written;
}

int notification_write_call_over(
	struct buf *buf, const char *run_id, uint32_t call, const char *why, struct err *err)
{
	struct arena arena;
	struct value *over;
	int written;

	arena_init(&arena, 4096);
	over = value_map(&arena);
	value_map_put(&arena, over, "run_id", value_text(&arena, run_id));
	value_map_put(&arena, over, "call", value_uint(&arena, call));
	value_map_put(&arena, over, "why", value_text(&arena, why));
	written = rpc_write_notification(buf, "run.call_over", over, err);
	arena_done(&arena);
	return written;
}

int notification_write_display(
	struct buf *buf, const char *run_id, const struct value *item, struct err *err)
{
	struct arena arena;
	struct value *shown;
	int written;

	arena_init(&arena, 4096);
	shown = value_map(&arena);
	value_map_put(&arena, shown, "run_id", value_text(&arena, run_id));
	value_map_put(&arena, shown, "main", value_get(item, "main"));
	value_map_put(&arena, shown, "data", value_get(item, "data"));
	written = rpc_write_notification(buf, "run.display", shown, err);
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
