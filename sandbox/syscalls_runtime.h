/*
 * What a job of a command runtime may do beside the list of FILTER_JOB: start the programs that its
 * tree holds.  Which programs those are the filter cannot see; the tree (runtimes/command/tree.h)
 * holds no others.  And what a program may do in a runtime that starts processes and no programs.
 */
#pragma once

#include "sandbox/tiny_filter.h"

/* Each call here is one that zygote and slot have: what the base filter refuses stays refused. */
extern const struct syscall_list SYSCALLS_COMMAND;
extern const struct syscall_list SYSCALLS_FORKING;

/*
 * Where the interpreter is started ahead, under the filter of the job to come: it may replace itself
 * by what its tree holds, which is itself, and have no child.
 */
extern const struct syscall_list SYSCALLS_AHEAD;
