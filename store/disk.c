#include "store/disk.h"

#include <pthread.h>

#include "proto/base/clock.h"

#define DISK_VFS "ced"

/* The file of the layer below lies right behind; only logs are wrapped. */
struct disk_log {
	sqlite3_file base; /* first: SQLite sees this struct as its file */
	bool passing;      /* the next sync of a commit goes by */
	bool header;       /* the header was written since the last sync */
	uint64_t syncs;
	int64_t sync_us;
	int why; /* errno of the last write, 0 when it went well */
};

static sqlite3_vfs *below;
static sqlite3_vfs layer;

static struct disk_log *log_of(sqlite3_file *file)
{
	return (struct disk_log *)(void *)file;
}

static sqlite3_file *real_of(sqlite3_file *file)
{
	return (sqlite3_file *)(void *)(log_of(file) + 1);
}

static int log_close(sqlite3_file *file)
{
	return real_of(file)->pMethods->xClose(real_of(file));
}

static int log_read(sqlite3_file *file, void *bytes, int len, sqlite3_int64 offset)
{
	return real_of(file)->pMethods->xRead(real_of(file), bytes, len, offset);
}

static int log_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 offset)
{
	struct disk_log *log = log_of(file);
	int r;

	if (offset == 0)
		log->header = true;
	r = real_of(file)->pMethods->xWrite(real_of(file), bytes, len, offset);
	log->why = 0;
	if (r != SQLITE_OK)
		(void)real_of(file)->pMethods->xFileControl(
			real_of(file), SQLITE_FCNTL_LAST_ERRNO, &log->why);
	return r;
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	return real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int log_sync(sqlite3_file *file, int flags)
{
	struct disk_log *log = log_of(file);
	int64_t before;
	int r;

	if (log->passing && !log->header)
		return SQLITE_OK;

	before = clock_us();
	r = real_of(file)->pMethods->xSync(real_of(file), flags);
	log->syncs++;
	log->sync_us += clock_us() - before;
	if (r == SQLITE_OK)
		log->header = false;
	return r;
}

static int log_size(sqlite3_file *file, sqlite3_int64 *ret_size)
{
	return real_of(file)->pMethods->xFileSize(real_of(file), ret_size);
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

	*log_of(file) = (struct disk_log){ { NULL }, false, false, 0, 0, 0 };
	r = below->xOpen(below, name, real_of(file), flags, ret_flags);
	if (real_of(file)->pMethods)
		file->pMethods = &log_methods;
	return r;
}

static void register_layer(void)
{
	below = sqlite3_vfs_find(NULL);
	if (!below)
		return;
	layer = *below; /* its other functions look at nothing that is changed here */
	layer.zName = DISK_VFS;
	layer.pNext = NULL;
	layer.szOsFile += (int)sizeof(struct disk_log);
	layer.xOpen = layer_open;
	if (sqlite3_vfs_register(&layer, 0) != SQLITE_OK)
		below = NULL;
}

const char *disk_vfs(struct err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, register_layer);
	if (!below) {
		(void)err_set(err, ERR_UNSUPPORTED, "SQLite has no way to reach files");
		return NULL;
	}
	return DISK_VFS;
}

struct disk_log *disk_log_of(sqlite3 *db)
{
	sqlite3_file *file = NULL;

	if (sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) != SQLITE_OK)
		return NULL;
	return file && file->pMethods == &log_methods ? log_of(file) : NULL;
}

void disk_log_wait(struct disk_log *log, bool wait)
{
	log->passing = !wait;
}

uint64_t disk_log_syncs(const struct disk_log *log)
{
	return log->syncs;
}

int64_t disk_log_sync_us(const struct disk_log *log)
{
	return log->sync_us;
}

int disk_log_errno(const struct disk_log *log)
{
	return log->why;
}
