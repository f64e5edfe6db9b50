/*
 * What a jail refuses, told to the interpreter before programs meet it.
 *
 * The kernel refuses in any case and these are no barrier; but "Operation not permitted" does not
 * say what was not permitted, and a call that returns instead of raising says nothing.  Built-in
 * functions take the place of built-in functions, so that no traceback has a frame of ours.
 */
#pragma once

#include <Python.h>

/*
 * Calls that start processes (unless `may_fork`) and other programs raise PermissionError with a
 * sentence.  In the zygote, before anything else is imported.
 */
void refusals_say(int may_fork);
