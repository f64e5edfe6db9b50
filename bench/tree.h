/*
 * What a tree of processes has used: everything below one, and those that it has reaped.
 */
#pragma once

#include <sys/types.h>

/* Seconds of cpu. */
double tree_cpu_s(pid_t root);

/* KiB that only one process has, the middle of Python's that have no children: of warm workers. */
double tree_python_kib(pid_t root);

/* Takes in children whose parents did not wait for them, so that their cpu counts. */
void tree_adopt(void);
void tree_reap(void);
