/*
 * Cgroups of the house, v1 and v2 behind one small interface.
 *
 * Below the cgroup that we were started in there is one folder "ced-<pid>", in each hierarchy that
 * helps: memory, pids, cpu and cpuacct of v1; or v2 with the controllers that it offers; or, on a
 * host with v1 controllers and an empty v2 hierarchy, both, the latter for cgroup.kill.  In it lie
 * leaves side by side: "z<child>" for a zygote and its slots, "z<child>-s<slot>" for the worker of
 * a slot.
 *
 * The folder is locked as long as we live, which is how a later spawner knows what is left over.
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
	unsigned controllers; /* of enum cgroup_controller, as far as they can be used */
	int base;             /* the folder that we were started in */
	int house;            /* ced-<pid> in it */
};

struct cgroups {
	struct cgroup_hierarchy rows[CGROUP_HIERARCHIES_MAX];
	unsigned count;
	bool can_kill; /* a v2 hierarchy is among them: leaves have cgroup.kill */
	char house_name[CGROUP_NAME_MAX];
	char why_not[256]; /* the first reason why something is missing */
};

/*
 * Finds what this host gives and makes the folders; clears what dead spawners left.  What is missing
 * is no failure: the caller decides by cgroups_kind().
 */
void cgroups_open(struct cgroups *cgroups);

/* Removes all leaves and folders.  Every process in them must be dead. */
void cgroups_close(struct cgroups *cgroups);

/* In which version a controller is held: enum priv_cgroup. */
uint32_t cgroups_kind(const struct cgroups *cgroups, enum cgroup_controller controller);

/* Makes a leaf in every hierarchy; one that is there already is kept. */
int cgroup_make(const struct cgroups *cgroups, const char *leaf, struct err *err);

/* Moves a process into a leaf. */
int cgroup_join(const struct cgroups *cgroups, const char *leaf, pid_t pid, struct err *err);

/* Sets ceilings, as far as the host has them. */
int cgroup_limit(const struct cgroups *cgroups, const char *leaf, uint64_t memory_bytes,
	uint64_t pids, struct err *err);

/*
 * Opens the knobs of a leaf: what each descriptor is, and the descriptors, which are given.
 *
 * The kernel asks what whoever opened a "procs" file may do, not who writes to it: root's descriptor
 * would let its holder move any process of the host in here and then starve or kill it.  So those
 * are opened as `joiner`, the uid of the workers that are to join; CGROUP_AS_WE_ARE: as nobody else.
 */
int cgroup_knobs(const struct cgroups *cgroups, const char *leaf, uid_t joiner,
	struct priv_knobs *ret_knobs, int *ret_fds, struct err *err);

/* Removes a leaf everywhere.  Returns false while the kernel still holds on to it somewhere. */
bool cgroup_remove(const struct cgroups *cgroups, const char *leaf);
