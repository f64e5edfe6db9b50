/* The kinds of jails, as data. jail.c makes a jail from a row. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "sandbox/filter/syscalls.h"
#include "sandbox/jail/mounts.h"
#include "sandbox/jail/rlimits.h"

struct jail_profile {
	const char *name;
	bool has_procfs; /* a procfs by descriptor, JAIL_PROC_FD */
	uint64_t shared; /* namespaces that it has not of its own, but the spawner's */
	bool keeps_caps; /* keeps capabilities in its user namespace, since it makes jails itself */
	const struct rlimit_row *rlimits;
	size_t rlimit_count;
	const struct mount_row *rows; /* in addition to those of the runtime */
	size_t row_count;
	const char *const *folders;
	const struct mount_text *texts;
};

extern const struct jail_profile PROFILE_ZYGOTE;
extern const struct jail_profile PROFILE_INSPECTOR;
extern const struct jail_profile PROFILE_EGRESS;
