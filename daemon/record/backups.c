#include "daemon/record/backups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/loop/errands.h"
#include "daemon/methods/call.h"
#include "daemon/services.h"
#include "daemon/settings/config.h"
#include "proto/base/container.h"
#include "proto/fill.h"

#define PIECE_BYTES ((size_t)1 << 20)
#define PATIENCE_MS 60000 /* a client that asks for nothing in this time has forgotten it */
#define COPY_NAME   "ced.copy"

/* ---- its end -------------------------------------------------------------------------------- */

static void forget(struct backups *backups)
{
	timer_close(backups->patience);
	backups->patience = NULL;
	backups->conn = NULL;
	if (!backups->making && !backups->reading && backups->copy.fd >= 0) {
		(void)close(backups->copy.fd);
		backups->copy.fd = -1;
	}
}

static void on_patience(void *owner)
{
	forget(owner);
}

void backups_conn_gone(struct backups *backups, const struct conn *conn)
{
	if (backups->conn == conn)
		forget(backups);
}

/* ---- making --------------------------------------------------------------------------------- */

static int copy(struct chore *chore, struct store *store, const atomic_bool *stop, struct err *err)
{
	struct backups *backups = container_of(chore, struct backups, chore);

	return store_backup(store, backups->path, stop, &backups->copy, err);
}

static void tell_copy(struct backups *backups, struct call *call)
{
	struct fill fill = fill_start(&call->arena);

	fill_int(&fill, "backup", backups->number);
	fill_int(&fill, "bytes", backups->copy.bytes);
	fill_text(&fill, "sha256", backups->copy.sha256);
	call_result(call, fill_done(&fill));
}

static void copied(struct chore *chore, const struct err *err)
{
	struct backups *backups = container_of(chore, struct backups, chore);
	struct call *call = backups->call;

	backups->making = false;
	backups->call = NULL;
	if (err) {
		call_error(call, RPC_CODE_INTERNAL, "%s", err->text);
		return;
	}
	if (backups->closing || conn_is_closing(call->conn)) {
		call_error(call, RPC_CODE_DRAINING, "the daemon is closing");
		forget(backups);
		return;
	}
	backups->number++;
	backups->conn = call->conn;
	backups->patience =
		timer_new(backups->services->loop, PATIENCE_MS, 0, on_patience, backups);
	tell_copy(backups, call);
}

static void make(struct backups *backups, struct call *call)
{
	if (backups->making || backups->conn || backups->reading) {
		call_error(call, RPC_CODE_BUSY, "another copy is being made or read");
		return;
	}
	backups->making = true;
	backups->call = call;
	backups->chore.run = copy;
	backups->chore.done = copied;
	caretaker_put(backups->services->caretaker, &backups->chore);
}

/* ---- reading -------------------------------------------------------------------------------- */

struct piece {
	struct backups *backups;
	struct call *call;
	int64_t offset;
	ssize_t got;
	int why;
	char bytes[PIECE_BYTES];
};

static void read_piece(void *context)
{
	struct piece *piece = context;

	piece->got =
		pread(piece->backups->copy.fd, piece->bytes, sizeof(piece->bytes), piece->offset);
	piece->why = errno;
}

static void tell_piece(void *context)
{
	auto_free struct piece *piece = context;
	struct backups *backups = piece->backups;
	struct call *call = piece->call;
	struct fill fill = fill_start(&call->arena);

	backups->reading = false;
	if (!backups->conn) /* it was forgotten meanwhile */
		forget(backups);
	if (piece->got < 0) {
		call_error(call, RPC_CODE_INTERNAL, "the copy: %s", strerror(piece->why));
		return;
	}
	fill_value(&fill, "data", value_bytes(&call->arena, piece->bytes, (size_t)piece->got));
	fill_bool(&fill, "eof", piece->offset + piece->got >= backups->copy.bytes);
	call_result(call, fill_done(&fill));
}

static void start_reading(struct backups *backups, struct call *call)
{
	struct piece *piece = calloc(1, sizeof(*piece));

	if (!piece) {
		call_error(call, RPC_CODE_BUSY, "there is no memory for a piece of the copy");
		return;
	}
	piece->backups = backups;
	piece->call = call;
	piece->offset = value_as_int(value_get(call->params, "offset"), 0);
	backups->reading = true;
	timer_set(backups->patience, PATIENCE_MS);
	if (errands_start(backups->services->errands, call->caller.uid, read_piece, tell_piece,
		    piece) == 0)
		return;
	backups->reading = false;
	free(piece);
	call_error(call, RPC_CODE_INTERNAL, "there is no thread to read the copy");
}

void method_backup(struct call *call)
{
	struct backups *backups = call->services->backups;
	const struct value *number = value_get(call->params, "backup");

	if (!number) {
		make(backups, call);
		return;
	}
	if (backups->conn != call->conn || backups->number != value_as_int(number, 0)) {
		call_error(call, RPC_CODE_NOT_FOUND, "there is no such copy any more");
		return;
	}
	if (value_as_bool(value_get(call->params, "end"), false)) {
		forget(backups);
		call_result(call, value_map(&call->arena));
	} else if (backups->reading) {
		call_error(call, RPC_CODE_BUSY, "a piece of it is being read");
	} else {
		start_reading(backups, call);
	}
}

void backups_start(struct backups *backups, struct services *services)
{
	*backups = (struct backups){ .services = services, .copy = { .fd = -1 } };
	cut_printf(backups->path, sizeof(backups->path), "%s/" COPY_NAME, services->config->state);
}

void backups_stop(struct backups *backups)
{
	backups->closing = true;
	forget(backups);
}
