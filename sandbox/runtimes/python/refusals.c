#include "sandbox/runtimes/python/refusals.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/base/container.h"
#include "sandbox/jail_env.h"

/*
 * Asks the kernel all the same, since the record tells what it refuses.  With these arguments it would
 * not do it either.
 */
static void ask_kernel(bool forks)
{
	if (forks)
		(void)syscall(SYS_clone, CLONE_SIGHAND, 0, 0, 0, 0);
	else
		(void)syscall(SYS_execve, NULL, NULL, NULL);
}

/* `self` is the sentence, and whether it is about processes. */
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
	bool forks; /* as opposed to starting another program */
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

/* ---- sockets --------------------------------------------------------------------------------- */

static PyObject *socket_init_below; /* of the class as the interpreter has it */

/* AF_INET where none is named. */
static long family_of(PyObject *args, PyObject *named)
{
	PyObject *family = PyTuple_Size(args) > 0 ? PyTuple_GetItem(args, 0) : NULL;
	long number = -1;

	if (!family && named)
		family = PyDict_GetItemString(named, "family");
	if (family && PyLong_Check(family))
		number = PyLong_AsLong(family);
	PyErr_Clear();
	return number < 0 ? AF_INET : number;
}

/* -1 where it did not fail, or for another reason. */
static long family_of_failed(PyObject *result, PyObject *args, PyObject *named)
{
	if (result || !PyErr_ExceptionMatches(PyExc_PermissionError))
		return -1;
	PyErr_Clear();
	return family_of(args, named);
}

static void say_refused(long family)
{
	bool network = family == AF_INET || family == AF_INET6;
	PyObject *error = Py_BuildValue("(is)", EPERM, network ? JAIL_NO_NETWORK : strerror(EPERM));

	if (error)
		PyErr_SetObject(PyExc_PermissionError, error);
	Py_XDECREF(error);
}

/* As below; but who wants a network is told in words that there is none. */
static int socket_init(PyObject *self, PyObject *args, PyObject *named)
{
	PyObject *first = PyTuple_Pack(1, self);
	PyObject *all = first ? PySequence_Concat(first, args) : NULL;
	PyObject *result = all ? PyObject_Call(socket_init_below, all, named) : NULL;
	long family = family_of_failed(result, args, named);

	Py_XDECREF(first);
	Py_XDECREF(all);
	if (!result && family >= 0)
		say_refused(family);
	Py_XDECREF(result);
	return result ? 0 : -1;
}

static PyType_Slot socket_slots[] = {
	{ Py_tp_init, (void *)socket_init },
	{ 0, NULL },
};

static PyType_Spec socket_spec = {
	.name = "_socket.socket",
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
	.slots = socket_slots,
};

static int replace_sockets(void)
{
	PyObject *module = PyImport_ImportModule("_socket");
	PyObject *base = module ? PyObject_GetAttrString(module, "socket") : NULL;
	PyObject *bases = base ? PyTuple_Pack(1, base) : NULL;
	PyObject *kind = bases ? PyType_FromSpecWithBases(&socket_spec, bases) : NULL;
	int result = -1;

	socket_init_below = base ? PyObject_GetAttrString(base, "__init__") : NULL;
	if (kind && socket_init_below && PyObject_SetAttrString(module, "socket", kind) == 0)
		result = PyObject_SetAttrString(module, "SocketType", kind);
	Py_XDECREF(kind);
	Py_XDECREF(bases);
	Py_XDECREF(base);
	Py_XDECREF(module);
	return result;
}

/* ---- processes ------------------------------------------------------------------------------- */

static const char *why(bool may_fork)
{
	return may_fork ? "this runtime starts no other programs"
			: "this runtime starts no processes";
}

/* Sets `value` in a module and, what it has from posix, in os, which has copied it. */
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
	if (replace_sockets() < 0)
		PyErr_Clear();
	for (size_t i = 0; i < COUNT_OF(refused); i++)
		if (!(may_fork && refused[i].forks) && refuse_one(&refused[i], may_fork) < 0)
			PyErr_Clear(); /* a build without it */
}
