#include "sandbox/runtimes/python/bytecode.h"

#include "proto/base/container.h"

/* ---- instructions --------------------------------------------------------------------------- */

/* By name, since numbers change with each version. */
static const struct {
	const char *name;
	enum kind kind;
	uint32_t shift_since; /* from this version on the lowest bits are flags */
	uint8_t shift;
} names[] = {
	{ "CACHE", KIND_NOTHING, 0, 0 },
	{ "PUSH_NULL", KIND_NOTHING, 0, 0 },
	{ "EXTENDED_ARG", KIND_LONGER, 0, 0 },
	{ "LOAD_NAME", KIND_LOAD_NAME, 0, 0 },
	{ "LOAD_GLOBAL", KIND_LOAD_NAME, 0x030b0000, 1 },
	{ "LOAD_FROM_DICT_OR_GLOBALS", KIND_LOAD_NAME, 0, 0 },
	{ "STORE_NAME", KIND_STORE_NAME, 0, 0 },
	{ "STORE_GLOBAL", KIND_STORE_NAME, 0, 0 },
	{ "DELETE_NAME", KIND_LOAD_NAME, 0, 0 },
	{ "DELETE_GLOBAL", KIND_LOAD_NAME, 0, 0 },
	{ "LOAD_FAST", KIND_LOAD_LOCAL, 0, 0 },
	{ "LOAD_FAST_CHECK", KIND_LOAD_LOCAL, 0, 0 },
	{ "LOAD_FAST_BORROW", KIND_LOAD_LOCAL, 0, 0 },
	{ "LOAD_DEREF", KIND_LOAD_CELL, 0, 0 },
	{ "STORE_FAST", KIND_STORE_LOCAL, 0, 0 },
	{ "STORE_DEREF", KIND_STORE_CELL, 0, 0 },
	{ "LOAD_ATTR", KIND_LOAD_ATTR, 0x030c0000, 1 },
	{ "LOAD_METHOD", KIND_LOAD_ATTR, 0, 0 },
	{ "LOAD_SUPER_ATTR", KIND_LOAD_ATTR, 0, 2 },
	{ "STORE_ATTR", KIND_STORE_ATTR, 0, 0 },
	{ "DELETE_ATTR", KIND_STORE_ATTR, 0, 0 },
	{ "IMPORT_NAME", KIND_IMPORT, 0x030f0000, 2 },
	{ "IMPORT_FROM", KIND_IMPORT_FROM, 0, 0 },
	{ "IMPORT_STAR", KIND_IMPORT_STAR, 0, 0 },
	{ "CALL_INTRINSIC_1", KIND_INTRINSIC, 0, 0 },
	{ "LOAD_CONST", KIND_CONST, 0, 0 },
	{ "KW_NAMES", KIND_CONST, 0, 0 },
	{ "RETURN_CONST", KIND_CONST, 0, 0 },
	{ "MATCH_CLASS", KIND_MATCH_CLASS, 0, 0 },
};

struct bytecode bytecode;

static uint32_t version; /* of the interpreter, as in its hexversion */
static PyObject *code_type;

static int take_code_type(void)
{
	PyObject *code = Py_CompileString("0", "<none>", Py_eval_input);

	if (!code)
		return -1;
	code_type = PyObject_Type(code);
	Py_DECREF(code);
	return 0;
}

static void take_instruction(PyObject *numbers, size_t row)
{
	PyObject *number = PyDict_GetItemString(numbers, names[row].name);
	long value = number ? PyLong_AsLong(number) : -1;

	if (value < 0 || value > 255)
		return; /* this version does without */
	bytecode.kind[value] = (uint8_t)names[row].kind;
	if (version >= names[row].shift_since)
		bytecode.shift[value] = names[row].shift;
}

int bytecode_init(void)
{
	PyObject *hexversion = PySys_GetObject("hexversion");
	PyObject *module = PyImport_ImportModule("opcode");
	PyObject *numbers = module ? PyObject_GetAttrString(module, "opmap") : NULL;

	if (!numbers || !hexversion || take_code_type() < 0)
		return -1;
	version = (uint32_t)PyLong_AsUnsignedLong(hexversion);
	for (size_t i = 0; i < COUNT_OF(names); i++)
		take_instruction(numbers, i);
	Py_DECREF(numbers);
	Py_DECREF(module);
	return 0;
}

bool bytecode_is_code(PyObject *object)
{
	return (PyObject *)Py_TYPE(object) == code_type;
}

/* ---- one code object ------------------------------------------------------------------------ */

/* From 3.11 on plain locals and cells stand in one table, which only this method reads. */
static PyObject *slots_of(PyObject *code)
{
	PyObject *list = PyList_New(0);
	PyObject *name = NULL;
	PyObject *slots = NULL;
	bool failed = !list;

	for (int i = 0; !failed; i++) {
		name = PyObject_CallMethod(code, "_varname_from_oparg", "i", i);
		if (!name)
			break;
		failed = PyList_Append(list, name) < 0;
		Py_DECREF(name);
	}
	PyErr_Clear();
	if (!failed)
		slots = PyList_AsTuple(list);
	Py_XDECREF(list);
	return slots;
}

static PyObject *cells_of(PyObject *code)
{
	PyObject *cells = PyObject_GetAttrString(code, "co_cellvars");
	PyObject *frees = PyObject_GetAttrString(code, "co_freevars");
	PyObject *both = cells && frees ? PySequence_Concat(cells, frees) : NULL;

	Py_XDECREF(cells);
	Py_XDECREF(frees);
	return both;
}

bool code_open(struct code *code, PyObject *self)
{
	bool is_one_table = version >= 0x030b0000;

	*code = (struct code){ .self = self,
		.bytes = PyObject_GetAttrString(self, "co_code"),
		.names = PyObject_GetAttrString(self, "co_names"),
		.consts = PyObject_GetAttrString(self, "co_consts"),
		.locals =
			is_one_table ? slots_of(self) : PyObject_GetAttrString(self, "co_varnames"),
		.cells = is_one_table ? slots_of(self) : cells_of(self) };
	return code->bytes && code->names && code->consts && code->locals && code->cells;
}

void code_close(struct code *code)
{
	Py_XDECREF(code->bytes);
	Py_XDECREF(code->names);
	Py_XDECREF(code->consts);
	Py_XDECREF(code->locals);
	Py_XDECREF(code->cells);
}
