/*
 * Holds the files that a writer has open against their names.
 *
 * A file that is removed or replaced while it is open can still be written, and every write succeeds:
 * only nobody will find it again.  So device and inode of each name are noted when the store is opened
 * and compared before each transaction and behind each commit.  The database and its log may not become
 * shorter than the writer itself made them, either.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/base/err.h"

enum watch_file {
	WATCH_DB,
	WATCH_LOG,
	WATCH_INDEX, /* of the log, shared by all that have the database open */
	WATCH_LOCK,  /* keeps a second writer away */
	WATCH_COUNT,
};

struct watch {
	struct watch_name {
		char *path; /* given (free) by watch_done() */
		dev_t device;
		ino_t inode;
		off_t floor; /* bytes that it has at least */
		bool is_short;
	} names[WATCH_COUNT];
	bool is_broken; /* as of the last look */
	bool is_gone;   /* for one that was removed or replaced ... */
	bool is_short;  /* ... or that is shorter than it was */
};

/* Notes what the names mean now.  `folder` and `db` borrowed. */
int watch_start(struct watch *watch, const char *folder, const char *db, struct err *err);
void watch_done(struct watch *watch);

/* From now on the file is at least as long as it is now; or may become shorter again. */
void watch_note_length(struct watch *watch, enum watch_file file);
void watch_forget_length(struct watch *watch, enum watch_file file);

/*
 * Do all names still mean the files that are open?  -1 with the sentence, ERR_SYSTEM with ESTALE, which
 * is "gone" for store_trouble().  Four calls of stat(); nothing when watch_start() was never called.
 */
int watch_look(struct watch *watch, struct err *err);
