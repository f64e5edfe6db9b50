/*
 * Work that is done in a child, so that it can do what it likes to itself.
 *
 * Contexts that are to carry something home lie in memory from try_memory().
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cli/doctor/doctor.h"

typedef int (*try_work)(void *context, struct err *err);

/* Memory that children share with us, zeroed; NULL when there is none.  try_forget() gives it back. */
void *try_memory(size_t size);
void try_forget(void *memory, size_t size);

/*
 * Runs `work` in a child, which dies with us, and after a few seconds anyway.  0, or -1 with what
 * the child said, or with the signal that killed it.
 */
int try_apart(try_work work, void *context, struct err *err);

/*
 * The same in namespaces of its own (CLONE_NEW...), made and mapped as ced-spawner does it: as root
 * the child's uid 0 is one of the host uids for jails, else our own.  Each namespace is looked at
 * from outside before the work begins.
 */
int try_inside(uint64_t kinds, try_work work, void *context, struct err *err);

/* Enters no_new_privs and ends as nobody, when we are root; else nothing happens. */
int try_as_nobody(struct err *err);

/* The first host uid that ced-spawner gives to jails, and how many. */
#define HOST_UIDS_FIRST 400000U
#define HOST_UIDS_COUNT 4160U

/* Whether the uids [first, first + count) exist where we are. */
bool try_uids_exist(unsigned first, unsigned count);
