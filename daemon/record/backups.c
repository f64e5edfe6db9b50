#include "daemon/record/backups.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/settings/config.h"
#include "proto/base/cleanup.h"
#include "proto/base/container.h"

#define PATIENCE_MS 60000 /* a client that asks for nothing in this time has forgotten the copy */
#define COPY_NAME   "ced.copy"

void backups_forget(struct backups *backups)
{
	timer_close(backups->patience);
	backups->patience = NULL;
	backups->owner = NULL;
	if (!backups->making && !backups->reading && backups->copy.fd >= 0) {
		(void)close(backups->copy.fd);
		backups->copy.fd = -1;
	}
}

static void on_patience(void *owner)
{
	backups_forget(owner);
}

void backups_conn_gone(struct backups *backups, const void *owner)
{
	if (backups->owner == owner)
		backups_forget(backups);
}

/* ---- making --------------------------------------------------------------------------------- */

static int copy_store(
	struct store_task *task, struct store *store, const atomic_bool *stop, struct err *err)
{
	struct backups *backups = container_of(task, struct backups, task);

	return store_backup(store, backups->path, stop, &backups->copy, err);
}

static void on_copied(struct store_task *task, const struct err *err)
{
	struct backups *backups = container_of(task, struct backups, task);
	struct err closing = ERR_INIT;

	backups->making = false;
	if (!err && backups->closing) {
		(void)err_set(&closing, ERR_CLOSED, "the daemon is closing");
		backups_forget(backups);
	}
	if (!err && !backups->closing)
		backups->number++;
	backups->made(backups->context, backups->closing && !err ? &closing : err);
}

int backups_make(
	struct backups *backups, void (*made)(void *context, const struct err *err), void *context)
{
	if (backups->making || backups->owner || backups->reading)
		return -1;
	backups->making = true;
	backups->made = made;
	backups->context = context;
	backups->task.run = copy_store;
	backups->task.done = on_copied;
	store_thread_put(backups->thread, &backups->task);
	return 0;
}

void backups_give(struct backups *backups, const void *owner)
{
	backups->owner = owner;
	backups->patience = timer_new(backups->loop, PATIENCE_MS, 0, on_patience, backups);
}

bool backups_has(const struct backups *backups, const void *owner, int64_t number)
{
	return backups->owner == owner && backups->number == number;
}

/* ---- reading -------------------------------------------------------------------------------- */

static void read_piece(void *context)
{
	struct backup_piece *piece = context;

	piece->got =
		pread(piece->backups->copy.fd, piece->bytes, sizeof(piece->bytes), piece->offset);
	piece->why = errno;
}

static void on_read(void *context)
{
	auto_free struct backup_piece *piece = context;
	struct backups *backups = piece->backups;

	piece->is_last = piece->offset + piece->got >= backups->copy.bytes;
	backups->reading = false;
	if (!backups->owner) /* the client has gone meanwhile */
		backups_forget(backups);
	piece->done(piece->context, piece);
}

int backups_read(struct backups *backups, uint32_t uid, int64_t offset,
	void (*done)(void *context, const struct backup_piece *piece), void *context,
	struct err *err)
{
	struct backup_piece *piece;

	if (backups->reading)
		return err_set(err, ERR_BUSY, "a piece of the copy is being read");
	piece = calloc(1, sizeof(*piece));
	if (!piece)
		return err_set(err, ERR_BUSY, "there is no memory for a piece of the copy");
	piece->backups = backups;
	piece->offset = offset;
	piece->done = done;
	piece->context = context;
	backups->reading = true;
	timer_set(backups->patience, PATIENCE_MS);
	if (thread_work_start(backups->thread_work, uid, read_piece, on_read, piece) == 0)
		return 0;
	backups->reading = false;
	free(piece);
	return err_set(err, ERR_SYSTEM, "there is no thread to read the copy");
}

/* ---- life ----------------------------------------------------------------------------------- */

void backups_start(struct backups *backups, uv_loop_t *loop, struct store_thread *thread,
	struct thread_work *thread_work, const char *folder)
{
	*backups = (struct backups){
		.loop = loop, .thread = thread, .thread_work = thread_work, .copy = { .fd = -1 }
	};
	cut_printf(backups->path, sizeof(backups->path), "%s/" COPY_NAME, folder);
}

void backups_stop(struct backups *backups)
{
	backups->closing = true;
	backups_forget(backups);
}
