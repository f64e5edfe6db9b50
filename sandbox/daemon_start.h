/*
 * Starts ced, the only child of the spawner outside a jail: another user in root mode, no
 * capability, its own filter, one descriptor to us, killed by the kernel when we die.
 */
#pragma once

#include <sys/types.h>

#include "proto/base/err.h"
#include "sandbox/child.h"
#include "sandbox/seccomp.h"

struct daemon_start {
	const char *program;
	char *const *args; /* behind --spawner-fd N, NULL behind the last */
	bool changes_user; /* root mode: becomes uid and gid below, without other groups */
	uid_t uid;
	gid_t gid;
	unsigned listen_fds; /* descriptors from 3 on that a service manager passed to us */
	int sock;
	const struct filter *filter;
};

#define DAEMON_ARGS_MAX 64

int daemon_start(struct child *child, const struct daemon_start *start, struct err *err);
