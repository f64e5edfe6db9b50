/*
 * The second filter of a worker: takes back what only zygote and slot needed.
 *
 * A zygote starts under the base filter, which allows what a program may do and beside it what
 * opening slots and making workers takes (clone3, setns, mount, setresuid, capset, seccomp ...).
 * Filters are inherited and the strictest answer counts, so this one needs only the rows in which
 * the two differ: base and tiny together give exactly the job's column of the table in syscalls.c.
 *
 * Plain BPF made from that table at run time, without libseccomp: it is linked into the
 * interpreter's extension and loads in a few microseconds.
 */
#pragma once

#include <linux/filter.h>
#include <stddef.h>

#include "proto/base/err.h"
#include "sandbox/syscalls.h"

#define TINY_FILTER_MAX 512

/* What the jobs of some kind of runtime are told differently from FILTER_JOB. */
struct syscall_list {
	const struct syscall_group *groups;
	size_t count;
};

/*
 * Writes the program into `ret_program` (room for TINY_FILTER_MAX); returns its length.  `more`
 * comes before the job's list: what a kind of runtime needs and a program of python does not.  Only
 * calls that the house has can stand in it.  NULL: nothing.
 */
size_t tiny_filter_build(const struct syscall_list *more, struct sock_filter *ret_program);

/*
 * Builds the program once, ahead of need (in the zygote, before the first fork).  Workers inherit
 * it; tiny_filter_load() does it itself when nobody has.
 */
void tiny_filter_prepare(const struct syscall_list *more);

/*
 * Loads the filter for the calling thread, which must be the only one and must have
 * no_new_privs.  Nothing privileged works afterwards: this is the last step.
 */
int tiny_filter_load(struct err *err);
