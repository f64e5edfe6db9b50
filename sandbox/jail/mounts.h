/*
 * The file tree of a jail: a read-only tmpfs of its own, with binds from the host in it.
 *
 * Sources are opened first, in the host's mount namespace, and the open file is checked, not its
 * name.  Then the new root is made, the sources are moved in, and the host's tree is unmounted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/err.h"

#define MOUNT_PATH_MAX 256
#define MOUNTS_MAX     56

enum mount_kind {
	MOUNT_TREE,   /* a file or folder, read-only, nosuid, nodev; a symbolic link is copied */
	MOUNT_TARGET, /* the same, but a symbolic link is followed on the host */
	MOUNT_DEVICE, /* one of the harmless devices */
	MOUNT_PROC,   /* a procfs of the jail's own pid namespace, read-only */
};

struct mount_row {
	enum mount_kind kind;
	const char *source; /* absolute, on the host */
	const char *target; /* absolute, inside */
	bool optional;      /* skipped when the host has no such path */
};

/*
 * Resolves the symbolic links of a path of the host.  Both paths must pass jail_path_check().
 * `ret_real` has room for MOUNT_PATH_MAX.
 */
int mount_real_path(const char *path, char *ret_real, struct err *err);

struct mount_text {
	const char *path;
	const char *text;
};

struct mount_plan {
	struct mount_row rows[MOUNTS_MAX];
	unsigned count;
	const char *const *folders;     /* empty folders, ended by NULL; may be NULL */
	const struct mount_text *texts; /* small files, ended by a path of NULL; may be NULL */
};

/* One open source for each row; -1 for one that was skipped. */
struct mount_sources {
	int fds[MOUNTS_MAX];
};

/* Opens and clones the sources.  Needs the host's tree and /proc. */
int mounts_open(const struct mount_plan *plan, struct mount_sources *ret_sources, struct err *err);

/* Makes a procfs of the caller's pid namespace, without mounting it.  Returns a descriptor. */
int mounts_procfs(struct err *err);

/* Makes the new root and unmounts the host's tree.  Closes the sources. */
int mounts_enter(const struct mount_plan *plan, struct mount_sources *sources, struct err *err);
