#include "store/base/wal_file.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define WAL_VFS  "ced"
#define HELD_MAX (32 << 10) /* bytes held back: seven pages with their heads */

/* The file of the layer below lies right behind; only logs are wrapped. */
struct wal_file {
	sqlite3_file base; /* first: SQLite sees this struct as its file */
	bool passing;      /* the next sync of a commit goes by */
	bool header;       /* the header was written since the last sync */
	bool doubtful;     /* a sync has failed: earlier writes may be lost */
	sqlite3_int64 unsynced_from, unsynced_to; /* bytes written since the last sync */
	int why;                                  /* errno of the last write, 0 when it went well */
	char *held;
	int held_len;
	sqlite3_int64 held_at;
};

static sqlite3_vfs *below;
static sqlite3_vfs layer;

static struct wal_file *log_of(sqlite3_file *file)
{
	return (struct wal_file *)(void *)file;
}

static sqlite3_file *real_of(sqlite3_file *file)
{
	return (sqlite3_file *)(void *)(log_of(file) + 1);
}

static int write_through(struct wal_file *log, const void *bytes, int len, sqlite3_int64 offset)
{
	sqlite3_file *real = real_of(&log->base);
	int r = real->pMethods->xWrite(real, bytes, len, offset);

	log->why = 0;
	if (r != SQLITE_OK)
		(void)real->pMethods->xFileControl(real, SQLITE_FCNTL_LAST_ERRNO, &log->why);
	if (log->unsynced_from == log->unsynced_to || offset < log->unsynced_from)
		log->unsynced_from = offset;
	if (offset + len > log->unsynced_to)
		log->unsynced_to = offset + len;
	return r;
}

/*
 * The kernel reports a failed write once, to the next sync, and treats the bytes as written from
 * then on.  Bytes of commits that no caller waited for would be missing in the log, and recovery
 * ends at the first gap.  So they are written again.
 */
static int write_again(struct wal_file *log)
{
	sqlite3_file *real = real_of(&log->base);
	char bytes[4096];
	sqlite3_int64 to = log->unsynced_to;
	int r = SQLITE_OK;

	for (sqlite3_int64 at = log->unsynced_from; r == SQLITE_OK && at < to;) {
		int len = to - at < (int)sizeof(bytes) ? (int)(to - at) : (int)sizeof(bytes);

		r = real->pMethods->xRead(real, bytes, len, at);
		if (r == SQLITE_OK)
			r = real->pMethods->xWrite(real, bytes, len, at);
		at += len;
	}
	return r;
}

/* Writes the bytes that are held back.  If that fails they are lost, as in any failed write. */
static int let_go(sqlite3_file *file)
{
	struct wal_file *log = log_of(file);
	int len = log->held_len;

	log->held_len = 0;
	return len ? write_through(log, log->held, len, log->held_at) : SQLITE_OK;
}

static int log_close(sqlite3_file *file)
{
	int r = let_go(file);
	int closed = real_of(file)->pMethods->xClose(real_of(file));

	free(log_of(file)->held);
	log_of(file)->held = NULL;
	return r != SQLITE_OK ? r : closed;
}

static int log_read(sqlite3_file *file, void *bytes, int len, sqlite3_int64 offset)
{
	int r = let_go(file);

	return r != SQLITE_OK ? r
			      : real_of(file)->pMethods->xRead(real_of(file), bytes, len, offset);
}

static int log_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 offset)
{
	struct wal_file *log = log_of(file);
	int r = SQLITE_OK;

	if (offset == 0)
		log->header = true;
	if (offset != log->held_at + log->held_len || len > HELD_MAX - log->held_len)
		r = let_go(file);
	if (r != SQLITE_OK)
		return r;
	if (!log->held || len > HELD_MAX)
		return write_through(log, bytes, len, offset);

	if (!log->held_len)
		log->held_at = offset;
	memcpy(log->held + log->held_len, bytes, (size_t)len);
	log->held_len += len;
	return SQLITE_OK;
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	int r = let_go(file);

	return r != SQLITE_OK ? r : real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int log_sync(sqlite3_file *file, int flags)
{
	struct wal_file *log = log_of(file);
	int r = let_go(file);

	if (r != SQLITE_OK || (log->passing && !log->header))
		return r;

	if (log->doubtful)
		r = write_again(log);
	if (r != SQLITE_OK)
		return r;
	r = real_of(file)->pMethods->xSync(real_of(file), flags);
	log->doubtful = r != SQLITE_OK;
	if (log->doubtful)
		return r;
	log->header = false;
	log->unsynced_from = 0;
	log->unsynced_to = 0;
	return r;
}

static int log_size(sqlite3_file *file, sqlite3_int64 *ret_size)
{
	int r = let_go(file);

	return r != SQLITE_OK ? r : real_of(file)->pMethods->xFileSize(real_of(file), ret_size);
}

static int log_lock(sqlite3_file *file, int level)
{
	return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int log_unlock(sqlite3_file *file, int level)
{
	return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int log_is_reserved(sqlite3_file *file, int *ret_reserved)
{
	return real_of(file)->pMethods->xCheckReservedLock(real_of(file), ret_reserved);
}

static int log_control(sqlite3_file *file, int op, void *arg)
{
	return real_of(file)->pMethods->xFileControl(real_of(file), op, arg);
}

static int log_sector_size(sqlite3_file *file)
{
	return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int log_traits(sqlite3_file *file)
{
	return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

/* A log is never mapped and never the place of locks: version 1 is all it needs. */
static const sqlite3_io_methods log_methods = {
	.iVersion = 1,
	.xClose = log_close,
	.xRead = log_read,
	.xWrite = log_write,
	.xTruncate = log_truncate,
	.xSync = log_sync,
	.xFileSize = log_size,
	.xLock = log_lock,
	.xUnlock = log_unlock,
	.xCheckReservedLock = log_is_reserved,
	.xFileControl = log_control,
	.xSectorSize = log_sector_size,
	.xDeviceCharacteristics = log_traits,
};

static int layer_open(
	sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
	int r;

	(void)vfs;
	if (!(flags & SQLITE_OPEN_WAL))
		return below->xOpen(below, name, file, flags, ret_flags);

	*log_of(file) = (struct wal_file){ .passing = false };
	r = below->xOpen(below, name, real_of(file), flags, ret_flags);
	if (real_of(file)->pMethods) {
		file->pMethods = &log_methods;
		log_of(file)->held = malloc(HELD_MAX); /* without it every write goes through */
	}
	return r;
}

static void register_layer(void)
{
	below = sqlite3_vfs_find(NULL);
	if (!below)
		return;
	layer = *below; /* its other functions look at nothing that is changed here */
	layer.zName = WAL_VFS;
	layer.pNext = NULL;
	layer.szOsFile += (int)sizeof(struct wal_file);
	layer.xOpen = layer_open;
	if (sqlite3_vfs_register(&layer, 0) != SQLITE_OK)
		below = NULL;
}

const char *wal_vfs(struct err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, register_layer);
	if (!below) {
		(void)err_set(err, ERR_UNSUPPORTED, "SQLite has no way to reach files");
		return NULL;
	}
	return WAL_VFS;
}

struct wal_file *wal_file_of(sqlite3 *db)
{
	sqlite3_file *file = NULL;

	if (sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) != SQLITE_OK)
		return NULL;
	return file && file->pMethods == &log_methods ? log_of(file) : NULL;
}

void wal_file_wait(struct wal_file *log, bool wait)
{
	log->passing = !wait;
}

int wal_file_errno(const struct wal_file *log)
{
	return log->why;
}
