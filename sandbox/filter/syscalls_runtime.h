/*
 * The calls that jobs of some runtimes may make in addition to FILTER_JOB. Jobs of command runtimes
 * may start programs.  The filter cannot see which ones, but their tree (runtimes/command/tree.h)
 * holds only those that are listed.  Jobs of a runtime with `processes` may fork and start no
 * program.
 */
#pragma once

#include "sandbox/filter/tiny_filter.h"

/* Zygote and slot have each of these calls: what the base filter refuses stays refused. */
extern const struct syscall_list SYSCALLS_COMMAND;
extern const struct syscall_list SYSCALLS_FORKING;

/* The same list (NULL: that of FILTER_JOB) for networked runs: TCP over IPv4, and only outwards. */
const struct syscall_list *syscalls_networked(const struct syscall_list *list);
