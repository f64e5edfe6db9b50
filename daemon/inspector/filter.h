/*
 * The inspector's system call filter.  It may read and write its socket, allocate memory, read the
 * clock and exit.  Any other call kills it, and the daemon denies the program that it was checking.
 */
#pragma once

#include "proto/base/err.h"

/* Cannot be undone.  The caller has compiled its rules and opens nothing later. */
int filter_load(struct err *err);
