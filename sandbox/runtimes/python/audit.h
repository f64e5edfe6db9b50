/*
 * The second enforcement of a policy, inside the worker: what the interpreter really compiles,
 * imports and calls is held against the rules that came with the job.
 *
 *	before it runs	each code object is looked through (inspection.h), wherever it comes from: the
 *			program, what it compiles, unmarshals or puts together
 *	while it runs	an audit hook, which cannot be taken out again, hears what the interpreter and
 *			its library do; builtins that the rules name are replaced by such that ask first
 *
 * The first breach is told to the daemon and ends the run.  A program that gets past this is still in
 * its jail; one that forges the word ends only its own run.
 *
 * Without rules nothing of this is there: no hook, no replaced builtin.
 */
#pragma once

#include <Python.h>

#include "sandbox/program.h"

/* Once, in the zygote.  0, or -1 with an exception set. */
int audit_init(void);

/* From here on the rules hold.  `name` is the program's file.  0, or -1: it must not run. */
int audit_start(struct span rules, struct span name);

/* Looks through code that is about to run, if there are rules; does not return when it breaks one. */
void audit_code(PyObject *code);

/* The program's first line is next: what has no frame from now on is its doing. */
void audit_begin(void);
