/*
 * Runs a worker's one job as the interpreter runs a script.
 *
 * It is driven from C, on a thread state of its own, with no Python frame below.  So the program
 * sees the stack, the recursion limit and tracebacks of a plain interpreter.  The harness
 * (harness.py) provides functions for work that is easier in Python.
 */
#pragma once

#include <Python.h>

#include "sandbox/worker/program.h"

struct harness {
	/* () -> globals of a plain program: "main.py", no arguments, nothing else */
	PyObject *ahead;
	/* (name, args, env, stdin kind, file count, processors) -> globals of the program */
	PyObject *prepare;
	PyObject *judge;   /* (exception, path, source, is_syntax) -> (exit code, report or None) */
	PyObject *forget;  /* () removes the program's modules */
	PyObject *compile; /* the builtin of that name */
	PyObject *finish;  /* atexit._run_exitfuncs */
	PyObject *context; /* contextvars.copy_context */
	PyObject *wake;    /* () the last steps in Python before a worker is warm */
	const struct program *program; /* NULL: the job comes over the job socket */
	void (*end)(int exit_code) __attribute__((noreturn));
};

/* Once, in the zygote, before the others.  0, or -1 with an exception set. */
int run_program_init(void);

/*
 * Once, in the zygote, for all workers: leaves all frames behind, so the caller never returns to
 * Python, and prepares what a plain program needs.
 */
void run_program_begin(const struct harness *harness);

/*
 * In a worker: reports that it is warm, waits for the job, runs it, reports the end, and waits to be
 * killed.  It never returns to the caller.
 */
__attribute__((noreturn)) void run_program(const struct harness *harness);

/*
 * Runs a program without reporting anything.  `job` is (source, name, args, env, stdin kind, file
 * count, processors). 0, or -1 with an exception set.
 */
int run_program_rehearse(const struct harness *harness, PyObject *job);
