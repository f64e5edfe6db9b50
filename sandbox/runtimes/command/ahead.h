/*
 * An interpreter that is started before its job comes.
 *
 * To start a program takes longer than most small scripts run: the kernel maps it, the loader finds its
 * libraries and binds them.  The library ced-ahead.so is loaded into the interpreter (LD_PRELOAD) and
 * stands before its main(): there it takes the job, as the worker would have done, and then main() gets
 * the job's arguments and environment.
 *
 * An interpreter that is linked statically, or is a script, or has a library with constructors of its own
 * (constructors.h) or an allocator that cannot be used yet, is started when the job comes.  So are jobs
 * whose environment is for the loader.
 */
#pragma once

#include <stdbool.h>

#include "sandbox/runtimes/command/run_program.h"

#define AHEAD_PROBE  "--ced-ahead" /* the only argument: says AHEAD_ANSWER, and exits */
#define AHEAD_ANSWER "ahead\n"

/* In the zygote: whether the library comes before the main() of this interpreter. */
bool ahead_is_possible(const char *interpreter);

/* In a worker: becomes the interpreter, with the library.  Returns if it cannot. */
void ahead_start(const struct command *command);
