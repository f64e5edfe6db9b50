/*
 * What compiled code is made of, in the interpreter that loaded us: its instructions, as far as they
 * say something about names, and one code object taken apart.
 */
#pragma once

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

enum kind {
	KIND_OTHER,
	KIND_NOTHING, /* moves or fills: what stood before still stands before what follows */
	KIND_LONGER,  /* upper bits of the next one's argument */
	KIND_LOAD_NAME,
	KIND_STORE_NAME,
	KIND_LOAD_LOCAL,
	KIND_STORE_LOCAL,
	KIND_LOAD_CELL,
	KIND_STORE_CELL,
	KIND_LOAD_ATTR,
	KIND_STORE_ATTR,
	KIND_IMPORT,
	KIND_IMPORT_FROM,
	KIND_IMPORT_STAR,
	KIND_INTRINSIC,
	KIND_CONST,
	KIND_MATCH_CLASS,
};

#define INTRINSIC_IMPORT_STAR 2 /* the argument of a KIND_INTRINSIC */

/* By an instruction's number. */
extern struct bytecode {
	uint8_t kind[256];  /* enum kind */
	uint8_t shift[256]; /* so many of an argument's lowest bits are flags */
} bytecode;

/* Once, in the zygote: this interpreter's instructions.  0, or -1 with an exception set. */
int bytecode_init(void);

/* Whether it is a code object. */
bool bytecode_is_code(PyObject *object);

/* Owned, each of them; NULL where it cannot be had. */
struct code {
	PyObject *self; /* borrowed */
	PyObject *bytes, *names, *consts, *locals, *cells;
};

/* False: some of it cannot be had.  To be closed all the same. */
bool code_open(struct code *code, PyObject *self);
void code_close(struct code *code);

/* Borrowed, or NULL. */
static inline PyObject *item_of(PyObject *tuple, uint32_t index)
{
	return tuple && (Py_ssize_t)index < PyTuple_Size(tuple)
		       ? PyTuple_GetItem(tuple, (Py_ssize_t)index)
		       : NULL;
}
