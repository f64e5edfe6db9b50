/*
 * Whose doing is it?  Told by frames: code says its file, and where the library's files are nobody
 * can write.  What is made to say such a name is found where it is made (audit.c).
 *
 * A library function that was handed a builtin and calls it speaks for who handed it over: it does
 * not have its name in its text.
 */
#pragma once

#include <Python.h>
#include <stdbool.h>

enum caller {
	CALLER_NOBODY,  /* no frame: the house, or a builtin that a thread begins with */
	CALLER_PROGRAM, /* code of the program, without a frame between */
	CALLER_LIBRARY, /* the library, for the program */
	CALLER_IMPORT,  /* the library, while it imports */
};

/* Whether a file of code is one that no program can write. */
bool caller_is_trusted(PyObject *file);

/* Whether a path is one that a program can write. */
bool caller_can_write(const char *path);

/* The file that code says; owned, or NULL. */
PyObject *caller_file_of_code(PyObject *code);

/* The same of a frame. */
PyObject *caller_file_of(PyFrameObject *frame);

enum caller caller_of_file(PyObject *file);

/* Who is at work now.  An import may be deep below a library that the program called. */
enum caller caller_now(void);

/* Who is behind the import that is at work; the first that is no import. */
enum caller caller_behind_import(void);

/* Whether the code at work has this word among its names. */
bool caller_names(PyObject *word);
bool caller_says(const char *word);

/* Whether the code at work belongs to the same module or package as this name. */
bool caller_belongs_to(PyObject *module);
