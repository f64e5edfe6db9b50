#include "sandbox/runtimes/python/run_program.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/child_exit.h"
#include "sandbox/jail_env.h"
#include "sandbox/runtimes/python/audit.h"
#include "sandbox/runtimes/python/streams.h"
#include "sandbox/worker/joblink.h"
#include "sandbox/worker/program.h"
#include "sandbox/worker/worker.h"

#define PLAIN_NAME     "main.py"
#define EXIT_UNFLUSHED 120 /* the interpreter's exit code if stdout cannot be flushed */

/*
 * Names of attributes, interned in the zygote.  The interpreter's method cache uses the address of
 * a name: a new name is never found there, and entering it changes a page.
 */
static struct {
	PyObject *closed, *flush, *threading, *shutdown;
} words;

/* A function of the library for deterministic runs (../steady); NULL in others. */
static void (*steady_begin)(void);

int run_program_init(void)
{
	*(void **)&steady_begin = dlsym(RTLD_DEFAULT, "ced_steady_begin");
	words.closed = PyUnicode_InternFromString("closed");
	words.flush = PyUnicode_InternFromString("flush");
	words.threading = PyUnicode_InternFromString("threading");
	words.shutdown = PyUnicode_InternFromString("_shutdown");
	return words.closed && words.flush && words.threading && words.shutdown ? 0 : -1;
}

/* Exits without a message: the daemon is gone, or has sent a malformed one. */
__attribute__((noreturn)) static void leave(void)
{
	child_exit(1);
}

/* The worker's pid.  Children of the program run this code too and must send nothing. */
static pid_t worker;

static bool is_child(void)
{
	return getpid() != worker;
}

static void tell(enum job_kind kind, int32_t exit_code, const char *body, size_t len)
{
	if (is_child())
		return;
	if (joblink_tell(WORKER_JOB_FD, kind, exit_code, body, len, NULL) < 0)
		leave();
}

/* ---- receiving the job -------------------------------------------------------------------- */

static PyObject *decode(struct span text)
{
	return PyUnicode_DecodeFSDefaultAndSize(text.bytes, (Py_ssize_t)text.len);
}

static PyObject *list_of(struct span packed, uint32_t count)
{
	PyObject *list = PyList_New((Py_ssize_t)count);
	struct span text;

	for (Py_ssize_t i = 0; list && program_next_text(&packed, &text); i++)
		if (PyList_SetItem(list, i, decode(text)) < 0)
			leave();
	return list;
}

/* None: stdin stays /dev/null; else its kind of file, as in st_mode. */
static PyObject *take_stdin(int fd, int ahead)
{
	struct stat status;
	struct err err = ERR_INIT;

	if (fd < 0) {
		if (ahead >= 0)
			close(ahead);
		Py_RETURN_NONE;
	}
	if (program_stdin(fd, ahead, JAIL_TMP_DIR, &err) < 0)
		joblink_fail(WORKER_JOB_FD, err.text);
	if (fstat(STDIN_FILENO, &status) < 0)
		leave();
	return PyLong_FromUnsignedLong(status.st_mode & S_IFMT);
}

/* (source, name, args, env, stdin kind, file count, processors) */
static PyObject *job_tuple(const struct program *program, int stdin_fd, int stdin_ahead)
{
	PyObject *job = Py_BuildValue("(NNNNNII)",
		PyBytes_FromStringAndSize(program->code.bytes, (Py_ssize_t)program->code.len),
		decode(program->entrypoint), list_of(program->args, program->arg_count),
		list_of(program->env, program->env_count), take_stdin(stdin_fd, stdin_ahead),
		program->file_count, JOB_PROCESSORS_OF(program->flags));

	if (!job)
		leave();
	return job;
}

/* The files that are made before the job comes: program_file_ahead(), program_stdin_ahead(). */
struct files_ahead {
	int code;
	int input;
};

/* The job's bytes stay in memory until the end, and so does what *ret_program points to. */
static PyObject *job_take(struct files_ahead ahead, struct program *ret_program)
{
	struct joblink_job job = { NULL, 0, -1 };
	struct err err = ERR_INIT;

	if (joblink_wait(WORKER_JOB_FD, &job, &err) < 0)
		leave();
	if (program_parse(job.body, job.len, ret_program, &err) < 0)
		leave();
	if (program_write(ret_program, AT_FDCWD, ahead.code, &err) < 0)
		joblink_fail(WORKER_JOB_FD, err.text);
	if (steady_begin)
		steady_begin();
	return job_tuple(ret_program, job.stdin_fd, ahead.input);
}

/* ---- exceptions --------------------------------------------------------------------------- */

/* Takes the current exception, with its traceback. */
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

/*
 * As the interpreter prints an uncaught exception: through sys.excepthook, setting sys.last_value.
 */
static void show(PyObject *exception)
{
	Py_INCREF(exception);
	PyErr_Restore(PyObject_Type(exception), exception, PyException_GetTraceback(exception));
	PyErr_PrintEx(1);
}

/* The exit code, after the exception was printed and, if `aloud`, reported.  Takes `error`. */
static int judge(const struct harness *harness, PyObject *error, PyObject *path, PyObject *source,
	bool is_syntax, bool aloud)
{
	PyObject *verdict = PyObject_CallFunction(
		harness->judge, "OOOO", error, path, source, is_syntax ? Py_True : Py_False);
	PyObject *report = NULL;
	int exit_code = 1;

	if (!verdict || !PyArg_ParseTuple(verdict, "iO", &exit_code, &report))
		PyErr_Clear();
	if (report) {
		if (report != Py_None || !verdict)
			show(error);
		if (aloud && PyBytes_Check(report))
			tell(JOB_ERROR, 0, PyBytes_AsString(report), (size_t)PyBytes_Size(report));
	}
	Py_XDECREF(verdict);
	Py_DECREF(error);
	return exit_code;
}

/* ---- one program -------------------------------------------------------------------------- */

/* A program that the interpreter runs as a script. */
struct script {
	PyObject *source; /* borrowed from the job */
	PyObject *name;
	PyObject *path; /* owned */
	PyObject *scope;
};

/* Most jobs are plain: a program and nothing else. */
static bool is_plain(PyObject *name, PyObject *args, PyObject *env, PyObject *kind, unsigned files)
{
	return files == 0 && kind == Py_None && PyList_Size(args) == 0 && PyList_Size(env) == 0 &&
	       PyUnicode_CompareWithASCIIString(name, PLAIN_NAME) == 0;
}

/* `ahead`, which is taken: the scope of a plain program, or NULL. */
static int script_init(
	struct script *script, const struct harness *harness, PyObject *ahead, PyObject *job)
{
	PyObject *args = NULL;
	PyObject *env = NULL;
	PyObject *kind = NULL;
	unsigned file_count = 0;
	unsigned processors = 0; /* 0: the number that workers are made for */

	memset(script, 0, sizeof(*script));
	script->scope = ahead;
	if (!PyArg_ParseTuple(job, "OOOOOII", &script->source, &script->name, &args, &env, &kind,
		    &file_count, &processors))
		return -1;
	if (!ahead || processors || !is_plain(script->name, args, env, kind, file_count)) {
		Py_XDECREF(script->scope);
		script->scope = PyObject_CallFunction(harness->prepare, "OOOOII", script->name,
			args, env, kind, file_count, processors);
	}
	if (!script->scope)
		return -1;
	script->path = PyDict_GetItemString(script->scope, "__file__");
	Py_XINCREF(script->path);
	return script->path ? 0 : -1;
}

static void script_done(struct script *script)
{
	Py_CLEAR(script->path);
	Py_CLEAR(script->scope);
}

/*
 * Behind a gate the policy's verdict is still to come.  Nothing of the program runs before it, and
 * no report of the compiler leaves.
 */
static void wait_at_gate(const struct program *program)
{
	struct err err = ERR_INIT;

	if ((program->flags & JOB_FLAG_GATE) && joblink_wait_go(WORKER_JOB_FD, &err) < 0)
		leave();
}

/*
 * The exit code, negative for a signal.  `program`: reports to the daemon; NULL: a rehearsal, which
 * does not.
 */
static int script_run(
	struct script *script, const struct harness *harness, const struct program *program)
{
	bool aloud = program != NULL;
	PyObject *result;
	PyObject *code = PyObject_CallFunction(
		harness->compile, "OOsii", script->source, script->path, "exec", 0, 1);

	if (aloud)
		wait_at_gate(program);
	if (!code)
		return judge(harness, take_exception(), script->path, script->source, true, aloud);
	if (aloud) {
		audit_begin();
		tell(JOB_BEGUN, 0, NULL, 0);
	}
	result = PyEval_EvalCode(code, script->scope, script->scope);
	Py_DECREF(code);
	if (!result)
		return judge(harness, take_exception(), script->path, script->source, false, aloud);
	Py_DECREF(result);
	return 0;
}

int run_program_rehearse(const struct harness *harness, PyObject *job)
{
	struct script script;
	PyObject *forgotten;

	if (script_init(&script, harness, NULL, job) < 0)
		return -1;
	(void)script_run(&script, harness, NULL);
	script_done(&script);
	forgotten = PyObject_CallObject(harness->forget, NULL);
	Py_XDECREF(forgotten);
	return forgotten ? 0 : -1;
}

/* ---- the end, as in Py_FinalizeEx() -------------------------------------------------------- */

/*
 * Waits for threads that are not daemons.  The module is loaded only if the program has imported
 * it.
 */
static void join_threads(void)
{
	PyObject *threading = PyImport_GetModule(words.threading);
	PyObject *result;

	if (!threading) {
		PyErr_Clear();
		return;
	}
	result = PyObject_CallMethodObjArgs(threading, words.shutdown, NULL);
	if (!result)
		PyErr_WriteUnraisable(threading);
	Py_XDECREF(result);
	Py_DECREF(threading);
}

static bool is_closed(PyObject *file)
{
	PyObject *closed = PyObject_GetAttr(file, words.closed);
	int truth = closed ? PyObject_IsTrue(closed) : 0;

	PyErr_Clear();
	Py_XDECREF(closed);
	return truth > 0;
}

static bool flush_one(const char *name, bool aloud)
{
	PyObject *file = PySys_GetObject(name);
	PyObject *result;

	if (!file || file == Py_None || is_closed(file))
		return true;
	Py_INCREF(file);
	result = PyObject_CallMethodObjArgs(file, words.flush, NULL);
	if (!result && aloud)
		PyErr_WriteUnraisable(file);
	PyErr_Clear();
	Py_DECREF(file);
	Py_XDECREF(result);
	return result != NULL;
}

static bool flush_both(void)
{
	bool flushed = flush_one("stdout", true);

	(void)flush_one("stderr", false);
	return flushed;
}

static void call_quietly(PyObject *call)
{
	PyObject *result = PyObject_CallObject(call, NULL);

	PyErr_Clear();
	Py_XDECREF(result);
}

/* Whether stdout could be flushed.  Output of __del__ in forget() is flushed too. */
static bool wind_up(const struct harness *harness, struct script *script)
{
	bool flushed;

	join_threads();
	call_quietly(harness->finish);
	flushed = flush_both();
	script_done(script);
	call_quietly(harness->forget);
	if (flushed)
		return flush_both();
	(void)flush_one("stderr", false);
	return false;
}

/* An interrupted interpreter dies of the signal, so that its parent sees it. */
static void die_of(int number)
{
	(void)signal(number, SIG_DFL);
	(void)kill(getpid(), number);
}

/* ---- a worker ------------------------------------------------------------------------------ */

/* prepare() failed: the environment may be one that no process can have. */
__attribute__((noreturn)) static void fail_to_begin(void)
{
	PyObject *error = take_exception();
	PyObject *text = error ? PyObject_Str(error) : NULL;
	PyObject *bytes = text ? PyUnicode_AsUTF8String(text) : NULL;

	joblink_fail(
		WORKER_JOB_FD, bytes ? PyBytes_AsString(bytes) : "the job could not be prepared");
}

/*
 * Replaces the thread state by a new one.  The old frames go with the old state, and nothing
 * returns to them.  Two are made: PyGILState_Ensure() finds the first one that is made while the
 * thread has none, and the interpreter must never be without a state.
 */
static void change_thread_state(PyInterpreterState *interpreter)
{
	PyThreadState *bridge = PyThreadState_New(interpreter);
	PyThreadState *fresh;

	if (!bridge)
		leave();
	PyThreadState_Delete(PyThreadState_Swap(bridge));
	fresh = PyThreadState_New(interpreter);
	if (!fresh)
		leave();
	(void)PyThreadState_Swap(fresh);
	PyThreadState_Clear(bridge);
	PyThreadState_Delete(bridge);
}

/* Public since 3.7, but not in the limited API; it takes one recursion less than Context.run(). */
/* NOLINTNEXTLINE(readability-identifier-naming) */
int PyContext_Enter(PyObject *context) __attribute__((weak));

/* Values that modules have set for this thread and context while they were imported are kept. */
static void start_over(const struct harness *harness)
{
	PyObject *context = PyObject_CallObject(harness->context, NULL);
	PyObject *kept = PyThreadState_GetDict();
	PyObject *fresh;

	if (!context || !kept)
		leave();
	Py_INCREF(kept);
	change_thread_state(PyInterpreterState_Get());
	fresh = PyThreadState_GetDict();
	if (!fresh || PyDict_Update(fresh, kept) < 0)
		leave();
	if (PyContext_Enter && PyContext_Enter(context) < 0)
		leave();
	Py_DECREF(kept);
}

/* After everything of ours and before anything of the program. */
static void hold_to_rules(const struct program *program)
{
	if (program->rules.len && audit_start(program->rules, program->entrypoint) < 0)
		joblink_fail(WORKER_JOB_FD,
			"the worker could not apply the policy's rules to this interpreter");
}

/* The globals of a plain program, made in the zygote. */
static PyObject *plain_scope;

void run_program_begin(const struct harness *harness)
{
	start_over(harness);
	plain_scope = PyObject_CallObject(harness->ahead, NULL);
	if (!plain_scope)
		leave();
}

void run_program(const struct harness *harness)
{
	struct program program = { .rules = { NULL, 0 } };
	struct script script;
	PyObject *job;
	struct files_ahead ahead;
	int exit_code;

	worker = getpid();
	ahead.code = program_file_ahead(AT_FDCWD);
	ahead.input = program_stdin_ahead(JAIL_TMP_DIR);
	streams_begin();
	if (joblink_ready(WORKER_JOB_FD) < 0)
		leave();
	job = harness->program ? job_tuple(harness->program, -1, ahead.input)
			       : job_take(ahead, &program);
	if (script_init(&script, harness, plain_scope, job) < 0)
		fail_to_begin();
	hold_to_rules(&program);
	exit_code = script_run(&script, harness, &program);
	if (!wind_up(harness, &script))
		exit_code = EXIT_UNFLUSHED;
	streams_end();
	if (exit_code < 0)
		die_of(-exit_code);
	if (is_child())
		child_exit(exit_code);
	harness->end(exit_code);
}
