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
	PyObject *use_packages; /* (names of sets) makes their modules importable */
	PyObject *wake;         /* () the last steps in Python before a worker is warm */
	/* (tools as JSON, globals of the program) -> what runs a program that is a coroutine, or None */
	PyObject *offer;
	PyObject *rest; /* () waits until the calls of a cell are answered; it can make no more */
	/* (name, source, args; None: of the first cell) -> globals of the session */
	PyObject *cell;
	/* display.py, for jobs with JOB_FLAG_DISPLAY */
	struct {
		/* (source, path) -> (code, code of the last expression or None, awaits) */
		PyObject *split;
		PyObject *start; /* (fd) */
		/* (the two codes, globals) -> (value, None) or (None, exception) */
		PyObject *drive;
		PyObject *show;   /* (value) */
		PyObject *finish; /* () */
		PyObject *rest;   /* () the same after a cell: its pipe is closed, too */
	} display;
	/* NULL: the job comes over the job socket.  With JOB_FLAG_SESSION it is each cell of a learner. */
	const struct program *program;
	void (*after_cell)(void); /* of such a learner; does not return after the last */
	void (*end)(int exit_code) __attribute__((noreturn)); /* not called in a session */
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
