/*
 * The extension that makes a zygote of an interpreter, and runs one program in each worker.
 *
 *	_ced.start_steady(name, script)	starts the interpreter once more, for deterministic runs
 *	_ced.settle(may_fork)	  reads the spawner's settings from the environment; prepares better
 *				  errors and substitutes (refusals.h, substitutes.h); returns whether
 *				  wake() has to call the hooks of modules
 *	_ced.scratch(is_there)	  a /tmp for libraries that write when they are imported
 *	_ced.open_stream(fd, raw, encoding, errors)
 *				  a program's stdout or stderr (streams.h)
 *	_ced.rehearse(parts, job) runs a program without reporting anything
 *	_ced.use_processors(n)	  sets the threads of numeric libraries (processors.h)
 *	_ced.serve(parts, samples, version)
 *				  forks a learner for each sample program (footprint.h), then opens
 *				  slots for the daemon, whose workers run one program each; does not
 *				  return
 *
 *	_ced.tool_begin()  before tools are offered (tools.h)
 *	_ced.tool_send(id, body)  sends a call of a tool
 *	_ced.tool_receive(how)	  the next answer: (id, whether it is a result, JSON); None: none is there
 *
 * `parts` are functions of the harness, in the order of `struct harness` in run_program.h.
 * A job is (source, name, args, env, stdin kind, file count, processors).
 *
 * The harness removes this module from sys.modules.  A program that finds it can do nothing with it
 * that its descriptors do not allow anyway.
 *
 * It uses the limited API, so one build serves every CPython from 3.9 on.
 */
#include <Python.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mount.h>
#include <unistd.h>

#include "proto/base/container.h"
#include "sandbox/child_exit.h"
#include "sandbox/filter/syscalls_runtime.h"
#include "sandbox/jail_env.h"
#include "sandbox/runtimes/python/audit.h"
#include "sandbox/runtimes/python/gaps.h"
#include "sandbox/runtimes/python/processors.h"
#include "sandbox/runtimes/python/refusals.h"
#include "sandbox/runtimes/python/run_program.h"
#include "sandbox/runtimes/python/streams.h"
#include "sandbox/runtimes/python/substitutes.h"
#include "sandbox/runtimes/python/tools.h"
#include "sandbox/worker/joblink.h"
#include "sandbox/worker/worker.h"
#include "sandbox/zygote/zygote.h"

#define LEARNER_CELLS 12
#define VERSION_KNOWN 0x030b /* CPython 3.11: docs/decisions/0092-after-fork.md */

static struct zygote zygote;
static struct harness harness;
static bool told_of_fork; /* PyOS_AfterFork_Child() is called in each worker */

/* ---- running a program -------------------------------------------------------------------- */

static int take_parts(PyObject *parts)
{
	return PyArg_ParseTuple(parts, "OOOOOOOOOOOOOOOOOO", &harness.ahead, &harness.prepare,
		       &harness.judge, &harness.forget, &harness.compile, &harness.finish,
		       &harness.context, &harness.wake, &harness.use_packages, &harness.offer,
		       &harness.display.split, &harness.display.start, &harness.display.drive,
		       &harness.display.show, &harness.display.finish, &harness.display.rest,
		       &harness.rest, &harness.cell)
		       ? 0
		       : -1;
}

/*
 * Reports the end.  This thread keeps the interpreter's lock, so that other threads of the program
 * print nothing more, as after an ordinary end.
 */
__attribute__((noreturn)) static void end_worker(int exit_code)
{
	if (joblink_tell(WORKER_JOB_FD, JOB_DONE, exit_code, NULL, 0, NULL) == 0)
		joblink_linger(WORKER_JOB_FD);
	child_exit(exit_code);
}

__attribute__((noreturn)) static void end_learner(int exit_code)
{
	(void)exit_code;
	zygote_learner_ends(&zygote);
}

/* What the last one writes to counts: the interpreter rewrites code that is run some times. */
static void after_cell_of_learner(void)
{
	static int count;

	count++;
	if (count == LEARNER_CELLS - 1)
		zygote_learner_shares(&zygote);
	if (count == LEARNER_CELLS)
		zygote_learner_ends(&zygote);
}

static PyObject *ced_rehearse(PyObject *self, PyObject *args)
{
	PyObject *parts = NULL;
	PyObject *job = NULL;

	(void)self;
	if (!PyArg_ParseTuple(args, "OO", &parts, &job) || take_parts(parts) < 0)
		return NULL;
	if (run_program_rehearse(&harness, job) < 0)
		return NULL;
	Py_RETURN_NONE;
}

/* ---- the zygote --------------------------------------------------------------------------- */

__attribute__((noreturn)) static void fail(const struct err *err)
{
	(void)dprintf(STDERR_FILENO, "<3>ced-zygote zygote.failed error=\"%s\"\n", err->text);
	child_exit(1);
}

/*
 * The seed of hashes is read before the first line of Python.  So the interpreter starts once more:
 * it reads the environment (no -I), and the library of ../steady is loaded before all others.
 * Returns only if it failed.
 */
static PyObject *ced_start_steady(PyObject *self, PyObject *args)
{
	union {
		const char *in[5];
		char *out[5];
	} argv = { .in = { NULL, "-s", "-B", NULL, NULL } };
	const char *program = (const char *)getauxval(AT_EXECFN); /* NOLINT: so it is handed over */

	(void)self;
	if (!PyArg_ParseTuple(args, "yy", &argv.in[0], &argv.in[3]))
		return NULL;
	if (setenv("PYTHONHASHSEED", "0", 1) < 0 ||
		setenv("LD_PRELOAD", JAIL_HARNESS_DIR "/" STEADY_LIBRARY, 1) < 0)
		return PyErr_NoMemory();
	(void)execv(program, argv.out);
	return PyErr_SetFromErrno(PyExc_OSError);
}

static PyObject *ced_settle(PyObject *self, PyObject *may_fork)
{
	struct err err = ERR_INIT;

	(void)self;
	if (run_program_init() < 0 || audit_init() < 0 || streams_init() < 0)
		return NULL;
	if (zygote_init(&zygote, &err) < 0)
		fail(&err);
	if (PyObject_IsTrue(may_fork) > 0)
		zygote.calls = &SYSCALLS_FORKING;
	refusals_say(zygote.calls != NULL);
	substitutes_make(PyObject_IsTrue(may_fork) > 0);
	told_of_fork = PyLong_AsLong(PySys_GetObject("hexversion")) >> 16 != VERSION_KNOWN;
	return PyBool_FromLong(!told_of_fork);
}

/* If this fails, those libraries do without, as in a worker. */
static PyObject *ced_scratch(PyObject *self, PyObject *is_there)
{
	(void)self;
	if (PyObject_IsTrue(is_there) > 0)
		(void)mount("tmpfs", JAIL_TMP_DIR, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
			"size=16m,nr_inodes=256,mode=0700");
	else
		(void)umount2(JAIL_TMP_DIR, MNT_DETACH);
	Py_RETURN_NONE;
}

static PyObject *ced_use_processors(PyObject *self, PyObject *count)
{
	(void)self;
	processors_use((int)PyLong_AsLong(count));
	Py_RETURN_NONE;
}

static PyObject *ced_open_stream(PyObject *self, PyObject *args)
{
	(void)self;
	return streams_open(args);
}

/*
 * PyOS_AfterFork_Child() makes the interpreter's locks anew, which other threads might hold, and
 * forgets these threads.  A zygote has one thread, which goes on in the worker with the same
 * identity, and nobody holds a lock.  So versions that are known to do no more are not told of the
 * fork; hooks of modules that mean something here are then called by wake().
 */
static void wake_interpreter(void)
{
	PyObject *woken;

	if (told_of_fork) {
		PyOS_BeforeFork();
		PyOS_AfterFork_Child();
	}
	substitutes_wake();
	woken = PyObject_CallObject(harness.wake, NULL);
	if (!woken)
		child_exit(1);
	Py_DECREF(woken);
}

__attribute__((noreturn)) static void run_sample(PyObject *code, uint32_t flags)
{
	static struct program sample = { .entrypoint = { "main.py", 7 } };

	wake_interpreter();
	sample.flags = flags;
	sample.code.bytes = PyBytes_AsString(code);
	if (!sample.code.bytes)
		child_exit(1);
	sample.code.len = (size_t)PyBytes_Size(code);
	harness.program = &sample;
	harness.end = end_learner;
	harness.after_cell = after_cell_of_learner;
	run_program(&harness);
}

static int learn_runs(PyObject *samples, struct err *err)
{
	int result = 0;

	for (Py_ssize_t i = 0; result == 0 && i < PyTuple_Size(samples); i++) {
		result = zygote_learn(&zygote, err);
		if (result > 0)
			run_sample(PyTuple_GetItem(samples, i), 0);
	}
	zygote_learned(&zygote);
	return result;
}

/* Every cell writes to the pages of a small one, and which others is the program's. */
static int learn_cells(struct err *err)
{
	int result = zygote_learn(&zygote, err);

	if (result > 0)
		run_sample(PyBytes_FromString("print(1)"), JOB_FLAG_SESSION);
	zygote_learned_cells(&zygote);
	return result;
}

static void learn(PyObject *samples)
{
	struct err err = ERR_INIT;

	if (learn_runs(samples, &err) < 0 || learn_cells(&err) < 0)
		(void)dprintf(STDERR_FILENO, "<4>ced-zygote learn.failed error=\"%s\"\n", err.text);
}

static PyObject *ced_serve(PyObject *self, PyObject *args)
{
	PyObject *parts = NULL;
	PyObject *samples = NULL;
	const char *version = NULL;
	struct err err = ERR_INIT;
	int result;

	(void)self;
	if (!PyArg_ParseTuple(args, "OOy", &parts, &samples, &version) || take_parts(parts) < 0)
		return NULL;
	run_program_begin(&harness);
	gaps_fill(PyLong_AsLong(PySys_GetObject("hexversion")));
	learn(samples);
	result = zygote_serve(&zygote, version, &err);
	if (result < 0)
		fail(&err);
	if (result == 0)
		child_exit(0);
	wake_interpreter();
	harness.program = NULL;
	harness.end = end_worker;
	run_program(&harness);
}

/*
 * To look up a name, the C library first asks nscd, by a local socket.  In a jail this would be
 * reported as a refused call that the program did not mean.  So the C library is set to read
 * files.  Weak: other C libraries know no nscd.
 */
/* NOLINTNEXTLINE(readability-identifier-naming,bugprone-reserved-identifier) */
int __nss_configure_lookup(const char *database, const char *services) __attribute__((weak));

static void ask_no_nscd(void)
{
	static const char *const rows[][2] = {
		{ "passwd", "files" },
		{ "group", "files" },
		{ "services", "files" },
		{ "hosts", "files dns" },
	};

	for (size_t i = 0; __nss_configure_lookup && i < COUNT_OF(rows); i++)
		(void)__nss_configure_lookup(rows[i][0], rows[i][1]);
}

/* ---- the module --------------------------------------------------------------------------- */

static PyMethodDef methods[] = {
	{ "start_steady", ced_start_steady, METH_VARARGS, NULL },
	{ "settle", ced_settle, METH_O, NULL },
	{ "scratch", ced_scratch, METH_O, NULL },
	{ "open_stream", ced_open_stream, METH_VARARGS, NULL },
	{ "rehearse", ced_rehearse, METH_VARARGS, NULL },
	{ "use_processors", ced_use_processors, METH_O, NULL },
	{ "serve", ced_serve, METH_VARARGS, NULL },
	{ "tool_begin", tools_begin, METH_NOARGS, NULL },
	{ "tool_send", tools_send, METH_VARARGS, NULL },
	{ "tool_receive", tools_receive, METH_O, NULL },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT,
	.m_name = "_ced",
	.m_size = -1,
	.m_methods = methods,
};

PyMODINIT_FUNC PyInit__ced(void); /* NOLINT(readability-identifier-naming): so the importer wants */

/* NOLINTNEXTLINE(readability-identifier-naming) */
PyMODINIT_FUNC PyInit__ced(void)
{
	ask_no_nscd();
	return PyModule_Create(&module);
}
