/*
 * The second enforcement of a policy, inside the worker: what the interpreter really imports,
 * calls and compiles is checked against the rules that came with the job.
 *
 *   - An audit hook, which a program cannot remove, receives the interpreter's own events.
 *   - Builtin functions that the rules name, and the functions that import, are replaced by guards:
 *     functions that check who calls and then call the real one.
 *
 * The rules over the text check names, attributes and texts that a program only contains.
 *
 * The first breach is reported to the daemon and ends the run.  A program that gets past this is
 * still in its jail, and a program that forges the report ends only its own run.  Without rules
 * there is no hook and no guard.
 */
#pragma once

#include <Python.h>

#include "sandbox/worker/program.h"

/* Once, in the zygote.  0, or -1 with an exception set. */
int audit_init(void);

/*
 * From here on the rules hold.  `name` is the program's file.  0, or -1: the program must not run.
 */
int audit_start(struct span rules, struct span name);

/* The program's first line is next: from here on, a call without a frame is the program's. */
void audit_begin(void);

/* A cell of a session is over: until audit_begin(), a call without a frame is the harness's. */
void audit_rest(void);

/* The next cell has this name. */
void audit_name(struct span name);
