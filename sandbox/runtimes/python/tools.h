/*
 * Calls of tools, over the job socket: one message goes out, answers come in any order.  tools.py
 * gives each answer to the thread or task that waits for it, and calls each function from one
 * thread at a time.  Both release the interpreter's lock while they wait.
 */
#pragma once

#include <Python.h>

/* (): in a worker, before the program or a cell begins.  Its children have no tools. */
PyObject *tools_begin(PyObject *self, PyObject *none);

/* (id, body): a call; body = name, NUL, JSON.  EOFError: nobody is there to answer. */
PyObject *tools_send(PyObject *self, PyObject *args);

/* How long tools_receive() waits; tools.py has the same numbers. */
#define TOOLS_BUFFERED 0 /* not at all: only what was read before */
#define TOOLS_POLL     1 /* only what has arrived */
#define TOOLS_WAIT     2

/*
 * (how long): the next answer, (id, whether it is a result, JSON).  None: not all of one is there.
 * EOFError: nobody is there to answer.
 */
PyObject *tools_receive(PyObject *self, PyObject *wait);
