/*
 * audit.backup: the store thread makes a copy of the store in the state folder, and a client reads
 * it piece by piece.  The copy is unlinked before it is read.  It is deleted when the client ends
 * the backup, disconnects, or has not read for a minute.  There is one copy at a time.
 *
 * The daemon writes to no path that a client names: the client writes the copy, with its own
 * rights.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/loop/thread_work.h"
#include "daemon/record/store_thread.h"
#include "proto/value.h"
#include "store/maintenance.h"

#define BACKUP_PIECE_BYTES ((size_t)1 << 20)

struct backups {
	struct store_task task;
	uv_loop_t *loop;
	struct store_thread *thread;
	struct thread_work *thread_work;
	const void *owner; /* the client whose copy it is, or NULL; compared only */
	struct timer *patience;
	struct store_backup copy;
	char path[512];
	int64_t number; /* of the last copy */
	void (*made)(void *context, const struct err *err);
	void *context; /* of `made` */
	bool making;
	bool reading; /* a thread reads a piece */
	bool closing;
};

/* A piece of the copy, read on a thread. */
struct backup_piece {
	struct backups *backups;
	int64_t offset;
	ssize_t got; /* -1: it failed, and `why` is the errno */
	int why;
	bool is_last;
	void (*done)(void *context, const struct backup_piece *piece);
	void *context;
	char bytes[BACKUP_PIECE_BYTES];
};

void backups_start(struct backups *backups, uv_loop_t *loop, struct store_thread *thread,
	struct thread_work *thread_work, const char *folder);
/* Call it before store_thread_close(), and again after it, when a copy being made has ended. */
void backups_stop(struct backups *backups);

/* Makes a copy and calls `made`.  -1: another one is made or read. */
int backups_make(
	struct backups *backups, void (*made)(void *context, const struct err *err), void *context);

/* From `made`: gives the copy to this client; or deletes it. */
void backups_give(struct backups *backups, const void *owner);
void backups_forget(struct backups *backups);

/* Whether this client has the copy of that number. */
bool backups_has(const struct backups *backups, const void *owner, int64_t number);

/* Reads a piece for this user.  ERR_BUSY: another piece is being read. */
int backups_read(struct backups *backups, uint32_t uid, int64_t offset,
	void (*done)(void *context, const struct backup_piece *piece), void *context,
	struct err *err);

/* A client disconnects. */
void backups_conn_gone(struct backups *backups, const void *owner);
