/*
 * The cgroups of all jails: v1 and v2 behind one small interface.
 *
 * The spawner makes one folder "ced-<pid>" below the cgroup that it was started in, in each
 * hierarchy that helps: memory, pids, cpu and cpuacct of v1, or v2 with the controllers that it
 * offers.  On a host with v1 controllers and an empty v2 hierarchy it uses both, the latter for
 * cgroup.kill.  The folder holds leaves: "z<child>" for a zygote and its slots, "z<child>-s<slot>"
 * for the worker of a slot.
 *
 * The folder is locked as long as the spawner lives.  A later spawner removes folders whose lock is
 * free.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/base/err.h"
#include "proto/internal/privmsg.h"

#define CGROUP_HIERARCHIES_MAX 5
#define CGROUP_NAME_MAX        48
#define CGROUP_AS_WE_ARE       ((uid_t)-1)

enum cgroup_controller {
	CGROUP_MEMORY = 1,
	CGROUP_PIDS = 2,
	CGROUP_CPU = 4,
	CGROUP_CPUACCT = 8, /* v1 only; part of cpu in v2 */
};

struct cgroup_hierarchy {
	bool is_v2;
	unsigned controllers; /* of enum cgroup_controller: those that can be used */
	int base;             /* the cgroup that we were started in */
	int jails;            /* ced-<pid> in it */
};

struct cgroups {
	struct cgroup_hierarchy rows[CGROUP_HIERARCHIES_MAX];
	unsigned count;
	bool can_kill; /* one of them is a v2 hierarchy, whose leaves have cgroup.kill */
	char jails_name[CGROUP_NAME_MAX];
	char why_not[256]; /* the first reason why something is missing */
};

/*
 * Finds the hierarchies of this host, makes the folders and removes those of dead spawners.  It is
 * no failure if a controller is missing: the caller decides by cgroups_kind().
 */
void cgroups_open(struct cgroups *cgroups);

/* Removes all leaves and folders.  Every process in them must be dead. */
void cgroups_close(struct cgroups *cgroups);

/* The version of cgroups that a controller is used in: enum priv_cgroup. */
uint32_t cgroups_kind(const struct cgroups *cgroups, enum cgroup_controller controller);

/* Makes a leaf in every hierarchy, unless it exists. */
int cgroup_make(const struct cgroups *cgroups, const char *leaf, struct err *err);

/* Moves a process into a leaf. */
int cgroup_join(const struct cgroups *cgroups, const char *leaf, pid_t pid, struct err *err);

/* Sets the limits that the host's controllers can enforce. */
int cgroup_limit(const struct cgroups *cgroups, const char *leaf, uint64_t memory_bytes,
	uint64_t pids, struct err *err);

/*
 * Opens the knobs of a leaf: returns what each descriptor is, and the descriptors, which the caller
 * owns.
 *
 * The kernel checks the rights of the process that opened a "procs" file, not of the one that
 * writes to it.  With root's descriptor its holder could move any process of the host in here and
 * starve or kill it.  So these files are opened as `joiner`, the uid of the workers that are to
 * join.  CGROUP_AS_WE_ARE opens them as the caller.
 */
int cgroup_knobs(const struct cgroups *cgroups, const char *leaf, uid_t joiner,
	struct priv_knobs *ret_knobs, int *ret_fds, struct err *err);

/* Removes a leaf in every hierarchy.  Returns false while the kernel still keeps it in one. */
bool cgroup_remove(const struct cgroups *cgroups, const char *leaf);
