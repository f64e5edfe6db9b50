/*
 * Starts ced, the only child of the spawner outside a jail.  It has no capability, its own filter
 * and one descriptor to the spawner; in root mode it is another user.  The kernel kills it when the
 * spawner dies.
 */
#pragma once

#include <sys/types.h>

#include "proto/base/err.h"
#include "sandbox/filter/seccomp.h"
#include "sandbox/jail/child.h"

struct daemon_start {
	const char *program;
	char *const *args; /* the arguments after --spawner-fd N; NULL ends them */
	bool changes_user; /* root mode: it becomes the uid and gid below, without other groups */
	uid_t uid;
	gid_t gid;
	unsigned listen_fds; /* how many descriptors from 3 on a service manager passed */
	int sock;
	const struct filter *filter;
};

#define DAEMON_ARGS_MAX 64

int daemon_start(struct child *child, const struct daemon_start *start, struct err *err);
