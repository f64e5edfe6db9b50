/*
 * The parts of a slot, which know each other: slot.c serves, slot_make.c makes a worker, slot_end.c
 * sees it end and clears up.
 */
#pragma once

#include <sys/resource.h>

#include "sandbox/slot.h"

/* ---- slot.c: words to the daemon ---- */

/* A message of this kind about the current worker. */
struct slotmsg slot_answer(const struct slot *slot, enum slotmsg_kind kind);
int slot_tell(const struct slot *slot, const struct slotmsg *msg, struct err *err);
int slot_tell_failure(
	const struct slot *slot, enum slotmsg_kind kind, const char *why, struct err *err);

/* ---- slot_make.c ---- */

/* 0, or 1 in the worker, or -1: then slot_undo() is called. */
int slot_make(struct slot *slot, const struct slotmsg *msg, const int *fds, struct err *err);

/* Kills what there is of a worker, waits for it and forgets it. */
void slot_undo(struct slot *slot);

/* Waits for a child that has ended or is about to. */
void slot_reap(pid_t *pid, int *pidfd, int *ret_status, struct rusage *ret_usage);

/* Lets go of a dead worker's files and of what was asked about it. */
void slot_forget(struct slot *slot);

void slot_close(int *fd);

/* ---- slot_end.c ---- */

/* The descriptors of COLLECT, in their order. */
enum {
	COLLECT_PIPE,
	COLLECT_GLOBS
};

int slot_worker_ended(struct slot *slot, struct err *err);
int slot_init_ended(struct slot *slot, struct err *err);
int slot_collector_ended(struct slot *slot, struct err *err);

/* Kills the run; its ends are seen in their own time. */
void slot_kill(struct slot *slot);

/* Does what was asked for and had to wait until nobody was alive. */
int slot_settle(struct slot *slot, struct err *err);
