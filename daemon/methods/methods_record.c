/* Methods about the record as a whole: gc, backup, checkpoints. */
#include <string.h>

#include "daemon/methods/methods.h"
#include "daemon/record/audit.h"
#include "daemon/record/backups.h"
#include "daemon/record/gc.h"
#include "daemon/services.h"
#include "proto/base/container.h"
#include "proto/fill.h"

/* ---- gc ------------------------------------------------------------------------------------- */

static void on_gc_done(void *owner, const struct gc *gc, const struct err *err)
{
	struct call *call = owner;

	if (err)
		call_error(call, RPC_CODE_INTERNAL, "%s", err->text);
	else
		call_result(call, gc_describe_last(gc, &call->arena));
}

void method_gc(struct call *call)
{
	const struct gc_request request = { .params = call->params,
		.uid = call->caller.uid,
		.gid = call->caller.gid,
		.pid = call->caller.pid,
		.done = on_gc_done,
		.owner = call };
	struct err err = ERR_INIT;

	if (gc_begin(call->services->gc, &request, &err) < 0)
		call_error(call, err.code == ERR_BUSY ? RPC_CODE_BUSY : RPC_CODE_BAD_REQUEST, "%s",
			err.text);
}

/* ---- a copy of the store -------------------------------------------------------------------- */

static void on_backup_made(void *context, const struct err *err)
{
	struct call *call = context;
	struct backups *backups = call->services->backups;
	struct fill fill = fill_start(&call->arena);

	if (!err && conn_is_closing(call->conn)) {
		backups_forget(backups);
		call_error(call, RPC_CODE_DRAINING, "the daemon is closing");
		return;
	}
	if (err) {
		call_error(call, err->code == ERR_CLOSED ? RPC_CODE_DRAINING : RPC_CODE_INTERNAL,
			"%s", err->text);
		return;
	}
	backups_give(backups, call->conn);
	fill_int(&fill, "backup", backups->number);
	fill_int(&fill, "bytes", backups->copy.bytes);
	fill_text(&fill, "sha256", backups->copy.sha256);
	call_result(call, fill_done(&fill));
}

static void on_backup_read(void *context, const struct backup_piece *piece)
{
	struct call *call = context;
	struct fill fill = fill_start(&call->arena);

	if (piece->got < 0) {
		call_error(call, RPC_CODE_INTERNAL, "the copy cannot be read: %s",
			strerror(piece->why));
		return;
	}
	fill_value(&fill, "data", value_bytes(&call->arena, piece->bytes, (size_t)piece->got));
	fill_bool(&fill, "eof", piece->is_last);
	call_result(call, fill_done(&fill));
}

static void read_backup(struct call *call)
{
	struct err err = ERR_INIT;

	if (backups_read(call->services->backups, call->caller.uid,
		    value_as_int(value_get(call->params, "offset"), 0), on_backup_read, call,
		    &err) < 0)
		call_error(call, err.code == ERR_BUSY ? RPC_CODE_BUSY : RPC_CODE_INTERNAL, "%s",
			err.text);
}

void method_backup(struct call *call)
{
	struct backups *backups = call->services->backups;
	const struct value *number = value_get(call->params, "backup");

	if (!number) {
		if (backups_make(backups, on_backup_made, call) < 0)
			call_error(call, RPC_CODE_BUSY, "another copy is being made or read");
	} else if (!backups_has(backups, call->conn, value_as_int(number, 0))) {
		call_error(call, RPC_CODE_NOT_FOUND, "there is no such copy any more");
	} else if (value_as_bool(value_get(call->params, "end"), false)) {
		backups_forget(backups);
		call_result(call, value_map(&call->arena));
	} else {
		read_backup(call);
	}
}

/* ---- checkpoints ---------------------------------------------------------------------------- */

struct checkpoint_call {
	struct checkpoint_request request;
	struct call *call;
};

static void on_checkpoint(struct checkpoint_request *request,
	const struct store_checkpoint *checkpoint, const struct err *err)
{
	struct call *call = container_of(request, struct checkpoint_call, request)->call;
	struct fill fill = fill_start(&call->arena);

	if (err) {
		call_error(call, RPC_CODE_INTERNAL, "%s", err->text);
		return;
	}
	fill_bool(&fill, "new", checkpoint->is_new);
	fill_int(&fill, "links", checkpoint->links);
	fill_text(&fill, "checkpoint", checkpoint->line);
	fill_text(&fill, "file", call->services->audit->path);
	call_result(call, fill_done(&fill));
}

void method_audit_checkpoint(struct call *call)
{
	struct checkpoint_call *asked = arena_new(&call->arena, struct checkpoint_call);

	if (asked) {
		asked->request.done = on_checkpoint;
		asked->call = call;
	}
	if (!asked || audit_request(call->services->audit, &asked->request) < 0)
		call_error(call, RPC_CODE_INTERNAL, "there is no memory for a checkpoint");
}

void method_audit_key(struct call *call)
{
	call_result(call, audit_describe_key(call->services->audit, &call->arena));
}
