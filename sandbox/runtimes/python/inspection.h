/*
 * What compiled code reaches for: the names, attributes and imports in code objects, which the
 * interpreter really executes, held against the rules of the job.
 *
 * It reads what the policy's inspector reads in the text, from the other side of the compiler: whatever
 * was done to make the text look harmless, names are folded, escapes are resolved and constants are
 * put together here.  What is only known when the program runs is audit.h's.
 */
#pragma once

#include <Python.h>

#include "sandbox/runtimes/python/rules.h"

/* A place where a rule is broken. */
struct breach {
	enum rule rule;
	PyObject *text; /* what stands there; owned */
	PyObject *file; /* its code's; owned */
	int line;       /* from 1; 0: unknown */
	int column;     /* in bytes from 0; -1: unknown */
};

/* 1 and *ret_breach when `code`, or code inside it, breaks a rule; -1: it cannot be read. */
int inspection_of(const struct rules *rules, PyObject *code, struct breach *ret_breach);
