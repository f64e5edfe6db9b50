/*
 * The file tree that a jail sees: an own read-only tmpfs with binds from the host in it.
 *
 * Sources are opened first, in the child's own mount namespace, and checked by what was opened and
 * not by name; then the new root is put up, the sources moved in, and the host's tree let go.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/err.h"

#define MOUNT_PATH_MAX 256
#define MOUNTS_MAX     48

enum mount_kind {
	MOUNT_TREE,   /* file or folder, read-only, nosuid, nodev; a link is made again as a link */
	MOUNT_TARGET, /* the same, but a link is followed here and bound as what it points to */
	MOUNT_DEVICE, /* one of the harmless devices */
	MOUNT_PROC,   /* a procfs of the jail's own pid namespace, read-only */
};

struct mount_row {
	enum mount_kind kind;
	const char *source; /* absolute, on the host */
	const char *target; /* absolute, inside */
	bool optional;      /* skipped when the host has no such path */
};

/* Refuses paths that are not plain and absolute, and those of the table in mounts.c. */
int mount_check_path(const char *path, struct err *err);

/*
 * Where a path of the host really leads, links resolved.  Both names must pass
 * mount_check_path().  `ret_real` has room for MOUNT_PATH_MAX.
 */
int mount_real_path(const char *path, char *ret_real, struct err *err);

struct mount_text {
	const char *path;
	const char *text;
};

struct mount_plan {
	struct mount_row rows[MOUNTS_MAX];
	unsigned count;
	const char *const *folders;     /* empty folders, NULL behind the last; may be NULL */
	const struct mount_text *texts; /* small files, path NULL behind the last; may be NULL */
};

/* One open source each row; -1 where it was skipped. */
struct mount_sources {
	int fds[MOUNTS_MAX];
};

/* Opens and clones the sources.  Needs the host's tree and /proc. */
int mounts_open(const struct mount_plan *plan, struct mount_sources *ret_sources, struct err *err);

/* Makes a procfs of the caller's pid namespace that is mounted nowhere.  Returns a descriptor. */
int mounts_procfs(struct err *err);

/* Puts up the new root and leaves the host's tree.  Closes the sources. */
int mounts_enter(const struct mount_plan *plan, struct mount_sources *sources, struct err *err);
