/*
 * Enters a jail: one ordered list of steps, each checked, and at the end the program.
 *
 * The spawner fills in a struct jail_spec and clones; the child takes the steps of the list in
 * jail.c.  The first step that fails is reported as "step: reason" on a socket to the spawner,
 * which closes by itself when the program starts.
 */
#pragma once

#include <stdint.h>

#include "proto/base/err.h"
#include "sandbox/filter/seccomp.h"
#include "sandbox/jail/profile.h"

#define JAIL_STATUS_MAX 256

struct jail_spec {
	const struct jail_profile *profile;
	const struct filter *filter;
	struct mount_plan mounts; /* the rows of the profile and of the runtime */
	int socket;               /* becomes JAIL_SOCKET_FD */
	uint64_t memory_bytes;    /* RLIMIT_AS, 0: none */
	uint64_t cpu_s;           /* RLIMIT_CPU of the process, 0: none */
	const char *program;      /* path inside */
	const char *const *argv;
	const char *const *envp;
};

/* Starts a spec with the profile's own rows and texts. */
void jail_spec_init(struct jail_spec *spec, const struct jail_profile *profile);

/* Adds a row.  Its texts must live as long as the spec. */
int jail_spec_add(struct jail_spec *spec, const struct mount_row *row, struct err *err);

/* Resets signals for a program: the spawner itself blocks and ignores some. */
int jail_plain_signals(struct err *err);

/* In the child, when its maps are written and it is in its cgroup.  Does not return. */
void jail_enter(const struct jail_spec *spec, int status) __attribute__((noreturn));
