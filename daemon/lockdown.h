/*
 * Drops rights that the daemon does not need after its start: afterwards it cannot execute a
 * program, change its rights or access another process.  This is a second filter on top of the
 * spawner's, which had to allow the execve() that started the daemon.
 */
#pragma once

#include "proto/base/err.h"

/* Applies to all threads of the process. */
int lockdown(struct err *err);
