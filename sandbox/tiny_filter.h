/*
 * The filters that a worker adds: they take back what only zygote and slot needed, and tell the slot
 * of what tells of intent.
 *
 * A zygote starts under the base filter, which allows what a program may do and beside it what
 * opening slots and making workers takes (clone3, setns, mount, setresuid, capset, seccomp ...).
 * Filters are inherited and the strictest answer counts, so these need only the rows in which base
 * and job differ: together they give exactly the job's column of the table in syscalls.c.
 *
 *	TINY_TOLD	nearly all of it; what is refused and told goes to a listener
 *	TINY_LAST	the rest: what it takes to hand that listener to the slot
 *	TINY_PLAIN	all of it in one, for a kernel that gives no listener (somebody around us has
 *			one already): refused by errno and by death, and told to nobody
 *
 * Plain BPF made from that table at run time, without libseccomp: it is linked into the
 * interpreter's extension.  Loading costs by the instruction, so there are as few as possible.
 */
#pragma once

#include <linux/filter.h>
#include <stddef.h>

#include "proto/base/err.h"
#include "sandbox/syscalls.h"

#define TINY_FILTER_MAX 256

/* What some jobs are told differently from FILTER_JOB. */
struct syscall_list {
	const struct syscall_group *groups;
	size_t count;
};

enum tiny_part {
	TINY_TOLD,
	TINY_LAST,
	TINY_PLAIN,
	TINY_PART_COUNT
};

/*
 * Writes the program into `ret_program` (room for TINY_FILTER_MAX); returns its length.  `more`
 * comes before the job's list: what a kind of runtime needs and a program of python does not.  Only
 * calls that the house has can stand in it.  NULL: nothing.
 */
size_t tiny_filter_build(
	enum tiny_part part, const struct syscall_list *more, struct sock_filter *ret_program);

/*
 * Builds the programs once, ahead of need (in the zygote, before the first fork).  Workers inherit
 * them; tiny_filter_load() does it itself when nobody has.
 */
void tiny_filter_prepare(const struct syscall_list *more);

/*
 * Loads the filter for the calling thread, which must be the only one and must have no_new_privs.
 * Gives the listener; the caller hands it on, closes it, and calls tiny_filter_close().  Where there
 * is none to be had it gives -1, and everything is closed already.
 */
int tiny_filter_load(int *ret_listener, struct err *err);

/* Nothing privileged works afterwards: this is the last step. */
int tiny_filter_close(struct err *err);

/* What the prepared filters say to a call that came to the listener. */
uint32_t tiny_filter_verdict(int nr, const uint64_t args[6]);
