/*
 * A cgroup of our own, v1 or v2, with a child in it, to try a limit on.  Everything that was made or
 * switched on is taken back.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "proto/base/err.h"

#define TRIAL_TEXT_MAX   512
#define TRIAL_FOLDER_MAX 1100 /* a mount and a path, then room for names of ours */
#define TRIAL_PATH_ROOM  1400
#define TRIAL_ANSWER_MS  3000

/* ---- where are we? -------------------------------------------------------------------------- */

struct place {
	int version; /* 0: the kernel has no such thing */
	char own[TRIAL_TEXT_MAX];
	char folder[TRIAL_FOLDER_MAX];
};

/* Our line of /proc/self/cgroup for a controller; NULL: for v2's hierarchy.  Without `folder`. */
void cgroups_find_own(const char *controller, struct place *place);

/* The same, and where it is mounted. */
int cgroups_find(const char *controller, struct place *place, struct err *err);

/* Small files of a cgroup. */
int cgroups_put(const char *folder, const char *name, const char *text, struct err *err);
void cgroups_get(const char *folder, const char *name, char *ret_line, size_t size);
unsigned long long cgroups_number(const char *folder, const char *name);

/* ---- a trial -------------------------------------------------------------------------------- */

struct leaf {
	struct place place;
	const char *controller; /* NULL: only the hierarchy itself is tried */
	char house[TRIAL_PATH_ROOM];
	char main[TRIAL_PATH_ROOM]; /* v2: where we wait while the controller is handed down */
	char folder[TRIAL_PATH_ROOM];
	bool handed_down, moved; /* to be taken back */
};

struct member {
	pid_t pid;
	int sock; /* a byte to go, a byte when done: 'y' or 'n' */
};

struct trial {
	const char *controller;
	int (*limit)(const struct leaf *leaf, struct err *err); /* before it does something */
	bool (*work)(void);                                     /* by the member */
	int (*check)(const struct leaf *leaf, const struct member *member, struct err *err);
};

/* Makes the leaf, puts a member into it, and has it work under the limit. */
int trial_run(const struct trial *trial, struct leaf *leaf, struct err *err);
