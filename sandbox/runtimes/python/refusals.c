#include "sandbox/runtimes/python/refusals.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/base/container.h"

/*
 * Makes the system call as well, since the record lists what the kernel refuses.  With these
 * arguments it would fail anyway.
 */
static void ask_kernel(bool forks)
{
	if (forks)
		(void)syscall(SYS_clone, CLONE_SIGHAND, 0, 0, 0, 0);
	else
		(void)syscall(SYS_execve, NULL, NULL, NULL);
}

/* `self` is the sentence, and whether the call makes a process. */
static PyObject *refuse(PyObject *self, PyObject *args, PyObject *named)
{
	PyObject *error = Py_BuildValue("(iO)", EPERM, PyTuple_GetItem(self, 0));

	(void)args;
	(void)named;
	ask_kernel(PyTuple_GetItem(self, 1) == Py_True);
	if (error)
		PyErr_SetObject(PyExc_PermissionError, error);
	Py_XDECREF(error);
	return NULL;
}

#define REFUSED(module, name, forks)                                                               \
	{                                                                                          \
		(module), (forks),                                                                 \
		{                                                                                  \
			(name), (PyCFunction)(void (*)(void))refuse, METH_VARARGS | METH_KEYWORDS, \
				"Refused in this runtime."                                         \
		}                                                                                  \
	}

/* The interpreter keeps the address of a method's definition. */
static struct refused {
	const char *module;
	bool forks; /* or else starts another program */
	PyMethodDef method;
} refused[] = {
	REFUSED("posix", "fork", true),
	REFUSED("posix", "forkpty", true),
	REFUSED("posix", "system", false),
	REFUSED("posix", "execv", false),
	REFUSED("posix", "execve", false),
	REFUSED("posix", "posix_spawn", false),
	REFUSED("posix", "posix_spawnp", false),
	REFUSED("_posixsubprocess", "fork_exec", false),
};

static const char *why(bool may_fork)
{
	return may_fork ? "this runtime starts no other programs"
			: "this runtime starts no processes";
}

/* Sets `value` in a module, and in os, which copies names from posix. */
static int replace(const char *module, const char *name, PyObject *value)
{
	const char *const modules[] = { module, "os" };

	for (size_t i = 0; i < COUNT_OF(modules); i++) {
		PyObject *found = PyImport_ImportModule(modules[i]);
		int result = !found ? -1 : 0;

		if (found && PyObject_HasAttrString(found, name))
			result = PyObject_SetAttrString(found, name, value);
		Py_XDECREF(found);
		if (result < 0)
			return -1;
	}
	return 0;
}

static int refuse_one(struct refused *row, bool may_fork)
{
	PyObject *text =
		PyUnicode_FromFormat("%s is refused: %s", row->method.ml_name, why(may_fork));
	PyObject *module = PyUnicode_FromString(row->module);
	PyObject *self = text ? Py_BuildValue("(OO)", text, row->forks ? Py_True : Py_False) : NULL;
	PyObject *call = self && module ? PyCFunction_NewEx(&row->method, self, module) : NULL;
	int result = call ? replace(row->module, row->method.ml_name, call) : -1;

	Py_XDECREF(call);
	Py_XDECREF(self);
	Py_XDECREF(module);
	Py_XDECREF(text);
	return result;
}

void refusals_say(int may_fork)
{
	for (size_t i = 0; i < COUNT_OF(refused); i++)
		if (!(may_fork && refused[i].forks) && refuse_one(&refused[i], may_fork) < 0)
			PyErr_Clear(); /* a build without this function */
}
