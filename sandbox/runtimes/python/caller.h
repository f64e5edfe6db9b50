/*
 * Calls are attributed by stack frame.  Code names its file, and no program can write where the
 * library's files are. audit.c denies code that is made to name such a file.
 *
 * A library function that was given a builtin and calls it acts for the program: the builtin's name
 * is not in the function's code.
 */
#pragma once

#include <Python.h>
#include <stdbool.h>

enum caller {
	CALLER_NOBODY, /* no frame: the interpreter itself, or a builtin that a thread begins with */
	CALLER_PROGRAM, /* code of the program, directly */
	CALLER_LIBRARY, /* the library, for the program */
	CALLER_IMPORT,  /* the library, while it imports */
};

/* Borrowed; NULL for an object that is no text. */
const char *caller_utf8(PyObject *text);

/* Whether a text begins so. */
bool caller_begins(const char *text, const char *beginning);

/* Whether no program can write this file of code. */
bool caller_is_trusted(PyObject *file);

/* Whether a program can write below this path. */
bool caller_can_write(const char *path);

/* The file that a code object names; owned, or NULL. */
PyObject *caller_file_of_code(PyObject *code);

/* The same of a frame. */
PyObject *caller_file_of(PyFrameObject *frame);

enum caller caller_of_file(PyObject *file);

/* Who makes the current call.  An import may be deep below a library that the program called. */
enum caller caller_now(void);

/* Who called the import system: the first caller that is not part of it. */
enum caller caller_behind_import(void);

/* Whether the running code has this word among its names. */
bool caller_names(PyObject *word);
bool caller_says(const char *word);

/* Whether the running code belongs to the module or package of this name. */
bool caller_belongs_to(PyObject *module);
