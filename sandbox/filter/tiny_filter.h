/*
 * The filters that a worker adds: they take back what only zygote and slot needed, and send calls
 * that show intent to the slot.
 *
 * A zygote starts under the base filter, which allows what a program may do and also the calls
 * that open slots and make workers (clone3, setns, mount, setresuid, capset, seccomp ...).
 * Filters are inherited and the strictest verdict counts, so these filters need only the rows in
 * which base and job differ.  Together they are exactly the job's column of the table in
 * syscalls.c.
 *
 *	TINY_NOTIFY	nearly all of it; calls that show intent go to a listener
 *	TINY_LAST	the rest: the calls that hand this listener to the slot
 *	TINY_PLAIN	all of it in one, for a kernel that gives no listener because an outer
 *			filter has one already.  Calls fail or kill the program, unreported
 *
 * They are BPF that is made from the table at run time, without libseccomp, since this is linked
 * into the interpreter's extension.  Loading costs by the instruction, so there are as few as
 * possible.
 */
#pragma once

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

#include "proto/base/err.h"
#include "sandbox/filter/syscalls.h"

#define TINY_FILTER_MAX 384

/* The answers of some jobs that differ from FILTER_JOB. */
struct syscall_list {
	const struct syscall_group *groups;
	size_t count;
	bool networked; /* the base filter is FILTER_ZYGOTE_NET */
};

enum tiny_part {
	TINY_NOTIFY,
	TINY_LAST,
	TINY_PLAIN,
	TINY_PART_COUNT
};

/*
 * Writes the program into `ret_program` (room for TINY_FILTER_MAX) and returns its length.  `more`
 * comes before the job's list: calls that a kind of runtime needs and Python does not.  It may hold
 * only calls that zygote and slot have.  NULL: none.
 */
size_t tiny_filter_build(
	enum tiny_part part, const struct syscall_list *more, struct sock_filter *ret_program);

/*
 * Builds the programs once, in the zygote before the first fork.  Workers inherit them;
 * tiny_filter_load() builds them itself if that was not done.
 */
void tiny_filter_prepare(const struct syscall_list *more);

/*
 * Loads the filter for the calling thread, which must be the only one and must have no_new_privs.
 * Returns the listener; the caller sends it, closes it and calls tiny_filter_close().  If the
 * kernel gives none, the listener is -1 and everything is closed already.
 */
int tiny_filter_load(int *ret_listener, struct err *err);

/* No privileged call works afterwards, so this is the last step. */
int tiny_filter_close(struct err *err);

/* The verdict of the prepared filters for a call that came to the listener. */
uint32_t tiny_filter_verdict(int nr, const uint64_t args[6]);
