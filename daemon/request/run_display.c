#include "daemon/request/run_display.h"

#include "daemon/door/conn.h"
#include "daemon/door/notification.h"
#include "daemon/request/request.h"
#include "proto/job/job_display.h"
#include "proto/wire/wire.h"

/* A larger item would block the loop.  It and all that follow it are sent with the result. */
#define ITEM_BYTES_MAX  ((size_t)1 << 20)
#define ITEM_VALUES_MAX ((size_t)4 << 20)
#define VISIT_BYTES_MAX \
	((size_t)1 << 20) /* after that the rest waits for the next bytes, or the end */

static int send_item(struct request *request, const struct value *item)
{
	struct buf notice;
	int written;

	buf_init(&notice, 2 * job_display_bytes(item) + 4096);
	written = notification_write_display(&notice, request->result.run_id, item, NULL);
	if (written == 0)
		conn_send_buf(request->conn, &notice);
	buf_done(&notice);
	return written;
}

/*
 * Returns the length of the next item, or 0: it is not whole, or is not sent now.  The scanner goes
 * on where it stopped, so that bytes that drip in cost no more than others.
 */
static size_t next_len(struct request *request)
{
	const struct capture *display = &request->execution.display;
	struct wire_scanner *scanner = request->display.scanner;
	size_t at = request->display.at;
	size_t len = 0;
	int scanned;

	if (!scanner)
		scanner = request->display.scanner =
			arena_new(&request->arena, struct wire_scanner);
	if (!scanner || at >= display->head_len)
		return 0;
	if (!request->display.begun)
		wire_scanner_init(scanner, ITEM_BYTES_MAX, JOB_DISPLAY_DEPTH_MAX);
	request->display.begun = true;
	scanned = wire_scan(scanner, display->head + at, display->head_len - at, &len, NULL);
	request->display.waits = scanned < 0;
	return scanned > 0 ? len : 0;
}

/* Reads one item from a copy, since reading changes the bytes.  -1: it is none. */
static int send_next(struct request *request, size_t len)
{
	struct arena arena;
	struct job_result alone = { .outcome = OUTCOME_NONE };
	char *copy;
	int sent = -1;

	arena_init(&arena, ITEM_VALUES_MAX);
	copy = arena_copy(&arena, request->execution.display.head + request->display.at, len);
	if (copy)
		job_display_read(&arena, copy, len, false, &alone);
	if (copy && !alone.display_broken && value_at(alone.display, 0))
		sent = send_item(request, value_at(alone.display, 0));
	arena_done(&arena);
	return sent;
}

void run_display_look(struct request *request)
{
	size_t len;

	for (size_t sent = 0; sent < VISIT_BYTES_MAX; sent += len) {
		/* When it is over, another thread may read the bytes. */
		if (!request->conn || !request->known || request->display.waits ||
			request->execution.over || request->display.sent == JOB_DISPLAY_ITEMS_MAX)
			return;
		len = next_len(request);
		if (!len)
			return;
		if (send_next(request, len) < 0) {
			request->display.waits = true;
			return;
		}
		request->display.at += len;
		request->display.sent++;
		request->display.begun = false;
	}
}

void run_display_rest(struct request *request)
{
	const struct value *list = request->result.display;

	while (request->conn && value_at(list, request->display.sent))
		if (send_item(request, value_at(list, request->display.sent++)) < 0)
			return;
}
