#include "proto/base/container.h"
#include "sandbox/runtimes/python/audit_parts.h"
#include "sandbox/runtimes/python/late_api.h"

#define GUARDS_MAX 128

/* What a guard stands before.  Behind a capsule, since __self__ is anybody's to see. */
struct guarded {
	const char *name;
	PyObject *function;
	PyMethodDef method;
};

static const struct guarded *guarded_of(PyObject *self)
{
	return PyCapsule_GetPointer(self, NULL);
}

static PyObject *go_on(PyObject *self, PyObject *args, PyObject *named)
{
	return PyObject_Call(guarded_of(self)->function, args, named);
}

/* A library function that has not its name in its text was handed it: see caller.h. */
static bool is_handed(const char *name)
{
	static const char *const makers[] = { "eval", "exec", "compile" };

	for (size_t i = 0; i < COUNT_OF(makers); i++)
		if (strcmp(name, makers[i]) == 0)
			return !caller_says(name);
	return false;
}

static PyObject *ask_first(PyObject *self, PyObject *args, PyObject *named)
{
	const char *name = guarded_of(self)->name;

	if (audit_is_programs(caller_now()) || is_handed(name))
		audit_judge_builtin(name);
	return go_on(self, args, named);
}

/* A module that is loaded already is given out without an event. */
static PyObject *import_first(PyObject *self, PyObject *args, PyObject *named)
{
	PyObject *name = audit_arg(args, 0);

	audit_judge_import(name ? name : named ? PyDict_GetItemString(named, "name") : NULL);
	return go_on(self, args, named);
}

/* A module that is part of the interpreter is made without an event. */
static PyObject *build_first(PyObject *self, PyObject *args, PyObject *named)
{
	PyObject *spec = audit_arg(args, 0);
	PyObject *name = spec ? PyObject_GetAttrString(spec, "name") : NULL;

	PyErr_Clear();
	audit_judge_driven(name);
	Py_XDECREF(name);
	return go_on(self, args, named);
}

/* Code is given another file's name in its place. */
static PyObject *rename_first(PyObject *self, PyObject *args, PyObject *named)
{
	if (caller_now() != CALLER_IMPORT)
		audit_judge_pose(audit_arg(args, 1));
	return go_on(self, args, named);
}

/* Puts a function of ours before `function`, which is `owner`'s of that name; both stay. */
static int guard(PyObject *owner, const char *name, PyObject *function, PyCFunctionWithKeywords ask)
{
	static struct guarded all[GUARDS_MAX];
	static size_t count;
	struct guarded *guarded = &all[count < GUARDS_MAX ? count++ : 0];
	PyObject *self = PyCapsule_New(guarded, NULL, NULL);
	PyObject *module = PyObject_GetAttrString(owner, "__name__");
	PyObject *call = NULL;
	int result = -1;

	if (self && module && count < GUARDS_MAX) {
		Py_INCREF(function);
		*guarded = (struct guarded){ name, function,
			{ name, (PyCFunction)(void (*)(void))ask, METH_VARARGS | METH_KEYWORDS,
				NULL } };
		call = PyCFunction_NewEx(&guarded->method, self, module);
	}
	if (call)
		result = PyObject_SetAttrString(owner, name, call);
	Py_XDECREF(call);
	Py_XDECREF(module);
	Py_XDECREF(self);
	return result;
}

/* Only functions: classes and what site has put there are told by their names in code. */
static int guard_builtins(PyObject *builtins, enum rule rule)
{
	PyObject *words = audit.rules.on[rule] ? audit.rules.words[rule] : NULL;
	PyObject *iterator = words ? PyObject_GetIter(words) : NULL;
	PyObject *known = PyModule_GetDict(builtins);
	PyObject *example = PyDict_GetItemString(known, "len");
	PyObject *name;
	int result = 0;

	while (iterator && result == 0 && (name = PyIter_Next(iterator))) {
		PyObject *builtin = PyDict_GetItem(known, name);

		if (builtin && Py_TYPE(builtin) == Py_TYPE(example) &&
			PyUnicode_CompareWithASCIIString(name, "__import__") != 0)
			result = guard(
				builtins, PyUnicode_AsUTF8AndSize(name, NULL), builtin, ask_first);
		Py_DECREF(name);
	}
	Py_XDECREF(iterator);
	return PyErr_Occurred() ? -1 : result;
}

static int guard_one(const char *owner, const char *name, PyCFunctionWithKeywords ask)
{
	PyObject *module = PyImport_ImportModule(owner);
	PyObject *function = module ? PyObject_GetAttrString(module, name) : NULL;
	int result = function ? guard(module, name, function, ask) : -1;

	Py_XDECREF(function);
	Py_XDECREF(module);
	return result;
}

static int guard_imports(void)
{
	if (guard_one("builtins", "__import__", import_first) < 0 ||
		guard_one("importlib", "import_module", import_first) < 0)
		return -1;
	return guard_one("_imp", "create_builtin", build_first);
}

int audit_guard_all(void)
{
	PyObject *builtins = PyImport_ImportModule("builtins");
	bool imports = audit.rules.on[RULE_IMPORT_DENIED] || audit.rules.on[RULE_IMPORT_DANGEROUS];
	int result = builtins ? guard_one("_imp", "_fix_co_filename", rename_first) : -1;

	if (result == 0)
		result = guard_builtins(builtins, RULE_NAME_DENIED);
	if (result == 0)
		result = guard_builtins(builtins, RULE_CALL_DENIED);
	if (result == 0)
		result = guard_builtins(builtins, RULE_BUILTIN_DENIED);
	if (result == 0 && imports)
		result = guard_imports();
	Py_XDECREF(builtins);
	return result;
}
