/*
 * The extension that makes a zygote of an interpreter, and the C half of what its workers do.
 *
 *	_ced.settle()		 reads what the spawner left in the environment, before it is cleared
 *	_ced.learn()		 forks the learner -> True in it
 *	_ced.learned()		 its last call
 *	_ced.serve(version)	 opens slots for the daemon; returns only in a worker, in its
 *				 jail -> whether its pages are its own already
 *	_ced.ready()		 says that the worker is warm
 *	_ced.take()		 waits for the job -> (source, entrypoint, args, env, stdin)
 *	_ced.execute(code, globals)  runs it as the interpreter runs a script -> None or the exception
 *	_ced.show(exception)	 prints it as the interpreter does, through sys.excepthook
 *	_ced.flush()		 flushes stdout and stderr as the interpreter does at its end -> bool
 *	_ced.begun() _ced.failed(text) _ced.error(json) _ced.done(code)   words to the daemon
 *
 * The program can import nothing of this by name, since the harness forgets the module, and could
 * do nothing with it that it cannot do with its descriptors anyway.
 *
 * Limited API only, so that one build serves every CPython from 3.9 on.
 */
#include <Python.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "sandbox/child_exit.h"
#include "sandbox/joblink.h"
#include "sandbox/program.h"
#include "sandbox/worker.h"
#include "sandbox/zygote.h"

/* ---- from zygote to worker ---------------------------------------------------------------- */

/*
 * The interpreter's half of a fork, all of it in the child: there is one thread, so locks taken
 * here are as good as locks taken before, and the slot stays free of the pages that this dirties.
 */
static void tell_interpreter_of_fork(void)
{
	PyOS_BeforeFork();
	PyOS_AfterFork_Child();
}

static struct zygote zygote;

__attribute__((noreturn)) static void fail(const struct err *err)
{
	(void)dprintf(STDERR_FILENO, "<3>ced-zygote zygote.failed error=\"%s\"\n", err->text);
	child_exit(1);
}

static PyObject *ced_settle(PyObject *self, PyObject *unused)
{
	struct err err = ERR_INIT;

	(void)self;
	(void)unused;
	if (zygote_init(&zygote, &err) < 0)
		fail(&err);
	Py_RETURN_NONE;
}

static PyObject *ced_learn(PyObject *self, PyObject *unused)
{
	struct err err = ERR_INIT;
	int result = zygote_learn(&zygote, &err);

	(void)self;
	(void)unused;
	if (result < 0)
		(void)dprintf(STDERR_FILENO, "<4>ced-zygote learn.failed error=\"%s\"\n", err.text);
	if (result > 0)
		tell_interpreter_of_fork();
	return PyBool_FromLong(result > 0);
}

static PyObject *ced_learned(PyObject *self, PyObject *unused)
{
	(void)self;
	(void)unused;
	zygote_learned(&zygote);
}

static PyObject *ced_serve(PyObject *self, PyObject *version)
{
	struct err err = ERR_INIT;
	const char *text = PyBytes_AsString(version);
	int result;

	(void)self;
	if (!text)
		return NULL;
	result = zygote_serve(&zygote, text, &err);
	if (result < 0)
		fail(&err);
	if (result == 0)
		child_exit(0);
	tell_interpreter_of_fork();
	return PyBool_FromLong(zygote.footprint.count > 0);
}

/* ---- the job ------------------------------------------------------------------------------ */

/* There is nobody to tell: a daemon that speaks nonsense, or none at all, ends the worker. */
__attribute__((noreturn)) static void leave(void)
{
	child_exit(1);
}

static PyObject *decode(struct span text)
{
	return PyUnicode_DecodeFSDefaultAndSize(text.bytes, (Py_ssize_t)text.len);
}

static PyObject *list_of(struct span packed, uint32_t count)
{
	PyObject *list = PyList_New((Py_ssize_t)count);
	struct span text;

	for (Py_ssize_t i = 0; list && program_next_text(&packed, &text); i++) {
		PyObject *item = decode(text);

		if (!item || PyList_SetItem(list, i, item) < 0) {
			Py_DECREF(list);
			return NULL;
		}
	}
	return list;
}

/* None: /dev/null stays; else what kind of file it is now, as in st_mode. */
static PyObject *take_stdin(int fd)
{
	struct stat status;

	if (fd < 0)
		Py_RETURN_NONE;
	if (fstat(fd, &status) < 0 || dup2(fd, STDIN_FILENO) < 0)
		leave();
	close(fd);
	return PyLong_FromUnsignedLong(status.st_mode & S_IFMT);
}

static PyObject *job_tuple(const struct program *program, int stdin_fd)
{
	PyObject *source =
		PyBytes_FromStringAndSize(program->code.bytes, (Py_ssize_t)program->code.len);
	PyObject *name = decode(program->entrypoint);
	PyObject *args = list_of(program->args, program->arg_count);
	PyObject *env = list_of(program->env, program->env_count);
	PyObject *input = take_stdin(stdin_fd);

	if (!source || !name || !args || !env || !input)
		leave();
	return Py_BuildValue("(NNNNN)", source, name, args, env, input);
}

static PyObject *ced_take(PyObject *self, PyObject *unused)
{
	struct joblink_job job = { NULL, 0, -1 };
	struct program program;
	struct err err = ERR_INIT;

	(void)self;
	(void)unused;
	if (joblink_wait(WORKER_JOB_FD, &job, &err) < 0)
		leave();
	if (program_parse(job.body, job.len, &program, &err) < 0)
		leave();
	if (program_write(&program, AT_FDCWD, &err) < 0) {
		(void)joblink_tell(WORKER_JOB_FD, JOB_FAILED, 0, err.text, strlen(err.text), NULL);
		joblink_linger(WORKER_JOB_FD);
		leave();
	}
	return job_tuple(&program, job.stdin_fd);
}

/* ---- running it --------------------------------------------------------------------------- */

/* The current exception, with its traceback in it; the thread has none afterwards. */
static PyObject *take_exception(void)
{
	PyObject *type = NULL;
	PyObject *value = NULL;
	PyObject *traceback = NULL;

	PyErr_Fetch(&type, &value, &traceback);
	PyErr_NormalizeException(&type, &value, &traceback);
	if (traceback)
		(void)PyException_SetTraceback(value, traceback);
	Py_XDECREF(type);
	Py_XDECREF(traceback);
	return value;
}

static PyObject *ced_execute(PyObject *self, PyObject *args)
{
	PyObject *code = NULL;
	PyObject *globals = NULL;
	PyObject *result;

	(void)self;
	if (!PyArg_ParseTuple(args, "OO", &code, &globals))
		return NULL;
	result = PyEval_EvalCode(code, globals, globals);
	if (!result)
		return take_exception();
	Py_DECREF(result);
	Py_RETURN_NONE;
}

static PyObject *ced_show(PyObject *self, PyObject *exception)
{
	PyObject *type = PyObject_Type(exception);

	(void)self;
	Py_INCREF(exception);
	PyErr_Restore(type, exception, PyException_GetTraceback(exception));
	PyErr_PrintEx(1);
	Py_RETURN_NONE;
}

/* As flush_std_files() in the interpreter. */
static bool flush_one(const char *name)
{
	PyObject *file = PySys_GetObject(name);
	PyObject *result;
	PyObject *closed;
	int is_closed;

	if (!file || file == Py_None)
		return true;
	closed = PyObject_GetAttrString(file, "closed");
	is_closed = closed ? PyObject_IsTrue(closed) : 0;
	PyErr_Clear();
	Py_XDECREF(closed);
	if (is_closed)
		return true;

	Py_INCREF(file);
	result = PyObject_CallMethod(file, "flush", NULL);
	if (!result && strcmp(name, "stdout") == 0)
		PyErr_WriteUnraisable(file);
	PyErr_Clear();
	Py_DECREF(file);
	Py_XDECREF(result);
	return result != NULL;
}

static PyObject *ced_flush(PyObject *self, PyObject *unused)
{
	bool out = flush_one("stdout");

	(void)self;
	(void)unused;
	(void)flush_one("stderr");
	return PyBool_FromLong(out);
}

static PyObject *ced_unraisable(PyObject *self, PyObject *args)
{
	PyObject *exception = NULL;
	PyObject *where = NULL;

	(void)self;
	if (!PyArg_ParseTuple(args, "OO", &exception, &where))
		return NULL;
	Py_INCREF(exception);
	PyErr_Restore(PyObject_Type(exception), exception, PyException_GetTraceback(exception));
	PyErr_WriteUnraisable(where);
	Py_RETURN_NONE;
}

/* ---- words to the daemon ------------------------------------------------------------------ */

static PyObject *tell(enum job_kind kind, int32_t exit_code, const char *body, size_t len)
{
	if (joblink_tell(WORKER_JOB_FD, kind, exit_code, body, len, NULL) < 0)
		leave();
	Py_RETURN_NONE;
}

/* With it goes the cpu time that was spent so far, which is no fault of the job's. */
static PyObject *ced_ready(PyObject *self, PyObject *unused)
{
	struct timespec used;

	(void)self;
	(void)unused;
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return tell(JOB_READY, (int32_t)(used.tv_sec * 1000000 + used.tv_nsec / 1000), NULL, 0);
}

static PyObject *ced_begun(PyObject *self, PyObject *unused)
{
	(void)self;
	(void)unused;
	return tell(JOB_BEGUN, 0, NULL, 0);
}

static PyObject *ced_failed(PyObject *self, PyObject *text)
{
	char *bytes = NULL;
	Py_ssize_t len = 0;

	(void)self;
	if (PyBytes_AsStringAndSize(text, &bytes, &len) < 0)
		return NULL;
	return tell(JOB_FAILED, 0, bytes, (size_t)len);
}

static PyObject *ced_error(PyObject *self, PyObject *json)
{
	char *bytes = NULL;
	Py_ssize_t len = 0;

	(void)self;
	if (PyBytes_AsStringAndSize(json, &bytes, &len) < 0)
		return NULL;
	return tell(JOB_ERROR, 0, bytes, (size_t)len);
}

/*
 * The last word.  The interpreter's lock stays with us, so that threads which the program left
 * running are as silent as after an ordinary end.
 */
static PyObject *ced_done(PyObject *self, PyObject *exit_code)
{
	int code = (int)PyLong_AsLong(exit_code);

	(void)self;
	if (joblink_tell(WORKER_JOB_FD, JOB_DONE, code, NULL, 0, NULL) == 0)
		joblink_linger(WORKER_JOB_FD);
	child_exit(code);
}

/* ---- the module --------------------------------------------------------------------------- */

static PyMethodDef methods[] = {
	{ "settle", ced_settle, METH_NOARGS, NULL },
	{ "learn", ced_learn, METH_NOARGS, NULL },
	{ "learned", ced_learned, METH_NOARGS, NULL },
	{ "serve", ced_serve, METH_O, NULL },
	{ "ready", ced_ready, METH_NOARGS, NULL },
	{ "take", ced_take, METH_NOARGS, NULL },
	{ "execute", ced_execute, METH_VARARGS, NULL },
	{ "show", ced_show, METH_O, NULL },
	{ "flush", ced_flush, METH_NOARGS, NULL },
	{ "unraisable", ced_unraisable, METH_VARARGS, NULL },
	{ "begun", ced_begun, METH_NOARGS, NULL },
	{ "failed", ced_failed, METH_O, NULL },
	{ "error", ced_error, METH_O, NULL },
	{ "done", ced_done, METH_O, NULL },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT,
	.m_name = "_ced",
	.m_size = -1,
	.m_methods = methods,
};

PyMODINIT_FUNC PyInit__ced(void);

PyMODINIT_FUNC PyInit__ced(void)
{
	return PyModule_Create(&module);
}
