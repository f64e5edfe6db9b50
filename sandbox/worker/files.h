/*
 * The files of one worker: a tmpfs of its own with two folders, seen as /work and /tmp.
 *
 * The slot makes it before the worker exists and holds it by descriptor, never by path, until the
 * last process is dead and the artifacts are collected.  The kernel deletes it when the descriptor
 * is closed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"

struct files {
	int mount;   /* the tmpfs; -1 while there is none */
	int context; /* its configuration, to change it later */
	bool hosts;  /* it holds the run's file of hosts, which is seen as /etc/hosts */
};

/* In the root of the tmpfs, which no path of the program leads to. */
#define FILES_HOSTS "hosts"

/* Where the program sees it. */
#define FILES_HOSTS_PATH "/etc/hosts"

#define FILES_INIT                         \
	{                                  \
		.mount = -1, .context = -1 \
	}

struct files_usage {
	uint64_t bytes;
	uint64_t inodes; /* not counting the folders that are always there */
	int bytes_full;
	int inodes_full;
};

/* Makes a tmpfs for `bytes` and `inodes` of a program.  It is not mounted yet. */
int files_make(struct files *files, uint64_t bytes, uint64_t inodes, struct err *err);

/* Adds a file of hosts.  The program sees it as /etc/hosts, and cannot write it. */
int files_add_hosts(struct files *files, struct err *err);

/* Changes both limits.  Fails if more than that is in use. */
int files_resize(const struct files *files, uint64_t bytes, uint64_t inodes, struct err *err);

/* Mounts the two folders at /work and /tmp of the caller's own mount namespace, once. */
int files_show(const struct files *files, struct err *err);

int files_measure(const struct files *files, struct files_usage *ret_usage, struct err *err);

/* Closes it.  May be called twice. */
void files_done(struct files *files);
