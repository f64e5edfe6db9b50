/*
 * A worker's life after its jail is built: one job, run the way the interpreter runs a script.
 *
 * All of it is driven from C and on a thread state of its own, with no Python frame underneath:
 * what a program sees of the stack, of the recursion limit and in tracebacks is what it would see
 * without us.  The harness lends a few functions for what is easier said in Python.
 */
#pragma once

#include <Python.h>

#include "sandbox/program.h"

struct harness {
	PyObject *
		ahead; /* () -> globals of a plain program: "main.py", no arguments, nothing else */
	PyObject *
		prepare; /* (name, args, env, stdin kind, file count, processors) -> globals of the program */
	PyObject *judge;   /* (exception, path, source, is_syntax) -> (exit code, report or None) */
	PyObject *forget;  /* () lets go of the program's modules */
	PyObject *compile; /* the builtin of that name */
	PyObject *finish;  /* atexit._run_exitfuncs */
	PyObject *context; /* contextvars.copy_context */
	const struct program *program; /* NULL: it comes over the job socket */
	void (*end)(int exit_code) __attribute__((noreturn));
};

/* Once, in the zygote, before the others.  0, or -1 with an exception set. */
int run_program_init(void);

/*
 * Leaves all frames behind, says that the worker is warm, waits for the job, runs it, says how it
 * ended, stays.  What is on the stack of the caller is never come back to.
 */
__attribute__((noreturn)) void run_program(const struct harness *harness);

/*
 * Runs a program in the middle of everything and tells nobody.  `job` is (source, name, args, env,
 * stdin kind, file count, processors).  0, or -1 with an exception set.
 */
int run_program_rehearse(const struct harness *harness, PyObject *job);
