/*
 * The last doors close: after the start the daemon never again executes a program, changes its
 * rights or looks into another process.  A second filter on top of the spawner's, which had to
 * allow the one execve() that started us.
 */
#pragma once

#include "proto/base/err.h"

/* For all threads of the process. */
int lockdown(struct err *err);
