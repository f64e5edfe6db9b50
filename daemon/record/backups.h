/*
 * audit.backup: a copy of the store, made by the caretaker in the state folder, read by the client a
 * piece at a time, and gone when it has been read, when its client leaves, or when nobody reads.  It
 * has no name there while it is read, and there is one at a time.
 *
 * The daemon writes to no place that a client names: where the copy is kept, the client writes it,
 * with rights of its own.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/record/caretaker.h"
#include "store/maintenance.h"

struct call;
struct conn;
struct services;

struct backups {
	struct chore chore;
	struct services *services;
	struct call *call; /* that waits for the copy */
	struct conn *conn; /* whose it is; never looked into */
	struct timer *patience;
	struct store_backup copy;
	char path[512];
	int64_t number; /* of the last one */
	bool making;
	bool reading; /* a thread does */
	bool closing;
};

void backups_start(struct backups *backups, struct services *services);
/* Before caretaker_close(), and again behind it: what is being made then ends. */
void backups_stop(struct backups *backups);

/* Takes the call. */
void method_backup(struct call *call);

/* A connection goes, and its copy. */
void backups_conn_gone(struct backups *backups, const struct conn *conn);
