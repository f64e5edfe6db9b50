/*
 * The inspector's last lock: from here on it may read and write its socket, ask for memory, look
 * at the clock and leave.  Anything else kills it, and the daemon denies what it was looking at.
 */
#pragma once

#include "proto/base/err.h"

/* Cannot be undone.  To be called when all is compiled and nothing is to be opened any more. */
int filter_load(struct err *err);
