/*
 * sys.stdout and sys.stderr of a program: what it prints leaves in time, see outlet.h.
 *
 * They are an io.TextIOWrapper over an io.BufferedWriter, as the interpreter has them, but both keep
 * nothing themselves: their classes, which are derived from those, hand over each text at once.
 */
#pragma once

#include <Python.h>

/* Once, in the zygote.  0, or -1 with an exception set. */
int streams_init(void);

/*
 * A stream for descriptor 1 or 2.  `args` are (fd, raw, encoding, errors): raw is the io.FileIO that
 * it stands on.  NULL with an exception set.
 */
PyObject *streams_open(PyObject *args);

/* In a worker, before anything of the program's runs. */
void streams_begin(void);

/* Writes what still waits, at the very end. */
void streams_end(void);
