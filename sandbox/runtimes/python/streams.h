/*
 * sys.stdout and sys.stderr of a program, whose text is written in time: see outlet.h.
 *
 * Each is an io.TextIOWrapper over an io.BufferedWriter, as in a plain interpreter.  But their
 * classes, which are derived from those, keep nothing and pass on each text at once.
 */
#pragma once

#include <Python.h>

/* Once, in the zygote.  0, or -1 with an exception set. */
int streams_init(void);

/*
 * A stream for descriptor 1 or 2.  `args` are (fd, raw, encoding, errors), where raw is the
 * io.FileIO below it.  NULL with an exception set.
 */
PyObject *streams_open(PyObject *args);

/* In a worker, before the program runs. */
void streams_begin(void);

/* Writes the rest of the buffers, at the very end. */
void streams_end(void);

/* The same after a cell, whose streams go on with the next one. */
void streams_rest(void);
