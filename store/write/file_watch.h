/*
 * Checks that the names of the store's files still mean the files that the writer has open.
 *
 * A file that is removed or replaced while it is open can still be written, and every write
 * succeeds, but the data is lost.  So device and inode of each name are noted when the store is
 * opened and compared before each transaction and after each commit.  The database and its log may
 * not become shorter than the writer made them, either.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/base/err.h"

enum watch_file {
	WATCH_DB,
	WATCH_LOG,
	WATCH_INDEX, /* of the log, shared by all processes that have the database open */
	WATCH_LOCK,  /* keeps a second writer out */
	WATCH_COUNT,
};

struct file_watch {
	struct file_watch_name {
		char *path; /* freed by file_watch_done() */
		dev_t device;
		ino_t inode;
		off_t floor; /* it may not become shorter than this */
		bool is_short;
	} names[WATCH_COUNT];
	bool is_broken; /* as of the last look */
	bool is_gone;   /* because a file was removed or replaced ... */
	bool is_short;  /* ... or is shorter than it was */
};

/* Notes which files the names mean now. */
int file_watch_start(struct file_watch *watch, const char *folder, const char *db, struct err *err);
void file_watch_done(struct file_watch *watch);

/* From now on the file may not become shorter than it is now; or it may become shorter again. */
void file_watch_note_length(struct file_watch *watch, enum watch_file file);
void file_watch_forget_length(struct file_watch *watch, enum watch_file file);

/*
 * Whether all names still mean the files that are open: 0, or -1 with ERR_SYSTEM and ESTALE, which
 * is "gone" for store_trouble().  Four calls of stat(); nothing before file_watch_start().
 */
int file_watch_look(struct file_watch *watch, struct err *err);
