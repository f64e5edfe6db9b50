/*
 * Better errors for what a jail refuses.
 *
 * These are no barrier, since the kernel refuses in any case.  But "Operation not permitted" does
 * not name the refused operation, and some calls return instead of raising.  Builtin functions
 * replace builtin functions, so that no traceback has a frame of ours.
 */
#pragma once

#include <Python.h>

/*
 * Calls that start processes (unless `may_fork`) and other programs raise PermissionError with a
 * sentence.  In the zygote, before anything else is imported.
 */
void refusals_say(int may_fork);
