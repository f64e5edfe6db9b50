/*
 * The files of one worker: a tmpfs of its own with two folders, seen as /work and /tmp.
 *
 * The slot makes it and holds it by descriptor, never by path, from before the worker exists until
 * its last process is dead and the artifacts are taken.  Letting go of it is all there is to
 * deleting.
 */
#pragma once

#include <stdint.h>

#include "proto/base/err.h"

struct files {
	int mount;   /* the tmpfs; -1 while there is none */
	int context; /* its configuration, to change it later */
};

#define FILES_INIT     \
	{              \
		-1, -1 \
	}

struct files_usage {
	uint64_t bytes;
	uint64_t inodes; /* without the folders that are always there */
	int bytes_full;
	int inodes_full;
};

/* Makes a tmpfs that holds `bytes` and `inodes` of a program's.  Mounted nowhere yet. */
int files_make(struct files *files, uint64_t bytes, uint64_t inodes, struct err *err);

/* Changes both limits; fails when more than that is in use. */
int files_resize(const struct files *files, uint64_t bytes, uint64_t inodes, struct err *err);

/* Mounts the two folders at /work and /tmp of the caller's own mount namespace, once. */
int files_show(const struct files *files, struct err *err);

int files_measure(const struct files *files, struct files_usage *ret_usage, struct err *err);

/* Lets go.  May be called twice. */
void files_done(struct files *files);
