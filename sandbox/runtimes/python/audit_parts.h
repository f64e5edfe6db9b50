/*
 * The parts of the second enforcement, from the ground up: audit_breach.c holds the rules and tells of a
 * breach, audit_imports.c judges imports, audit_guards.c stands before the builtins that make no event,
 * audit_events.c hears what the interpreter does, and audit.c has it all begin.
 */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "sandbox/runtimes/python/audit.h"
#include "sandbox/runtimes/python/caller.h"
#include "sandbox/runtimes/python/rules.h"

#define AUDIT_PATH_BYTES 512

struct audit_state {
	bool on;
	bool begun; /* from here on the house calls nothing by itself */
	struct rules rules;
	char main[AUDIT_PATH_BYTES]; /* the program's file */
	PyObject *quote;             /* a text as JSON has it */
	PyObject *roots;             /* where modules are, as a tuple */
};

static inline PyObject *audit_arg(PyObject *args, Py_ssize_t index)
{
	return index < PyTuple_Size(args) ? PyTuple_GetItem(args, index) : NULL;
}

static inline bool audit_begins(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* ---- audit_breach.c ---- */

extern struct audit_state audit;

/* Tells of the breach by what runs now, and ends the run. */
__attribute__((noreturn)) void audit_deny(enum rule rule, PyObject *text);

/* It cannot be known any more whether a rule is broken: ends the run. */
__attribute__((noreturn)) void audit_lost(void);

bool audit_is_programs(enum caller caller);

/* Each denies when a rule says so: what is called by its path, a builtin, the file that code says it is of. */
void audit_judge_path(PyObject *path);
void audit_judge_builtin(const char *name);
void audit_judge_pose(PyObject *file);

/* ---- audit_imports.c ---- */

/* A call of __import__() or its like; what the machinery of imports does; a module's file that is run. */
void audit_judge_import(PyObject *called);
void audit_judge_driven(PyObject *called);
void audit_judge_module_file(PyObject *file);

void audit_on_import(PyObject *args);

/* ---- audit_events.c: a Py_AuditHookFunction ---- */

int audit_hear(const char *event, PyObject *args, void *data);

/* ---- audit_guards.c: 0, or -1 with an exception set ---- */

int audit_guard_all(void);
