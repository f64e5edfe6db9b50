#define PY_SSIZE_T_CLEAN
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
#include "sandbox/worker/branch.h"
#include "sandbox/worker/joblink.h"
#include "sandbox/worker/program.h"
#include "sandbox/worker/worker.h"

#define PLAIN_NAME      "main.py"
#define TOP_LEVEL_AWAIT 0x2000 /* PyCF_ALLOW_TOP_LEVEL_AWAIT, which is not in the limited API */
#define EXIT_UNFLUSHED  120    /* the interpreter's exit code if stdout cannot be flushed */
#define EXIT_SIGNALED   128    /* a shell's exit code for a signal, which is added */

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
	branch_init();
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

/* What came last over the job socket.  Its bytes stay in memory while its program runs. */
static struct joblink_job job_now;

/*
 * The descriptors of a job, from the one numbered `next` on: its stdin, and the pipe that it
 * displays into.  -1: none.
 */
static void take_fds(struct program *program, int next, int *ret_stdin, int *ret_display)
{
	*ret_stdin = program->has_stdin ? job_now.fds[next++] : -1;
	*ret_display = program->flags & JOB_FLAG_DISPLAY ? job_now.fds[next] : -1;
	if (*ret_display < 0)
		program->flags &= ~JOB_FLAG_DISPLAY;
}

/* *ret_display: -1, or the pipe that the program displays into. */
static PyObject *job_take(struct files_ahead ahead, struct program *ret_program, int *ret_display)
{
	int stdin_fd = -1;
	struct err err = ERR_INIT;

	if (joblink_wait(WORKER_JOB_FD, &job_now, &err) < 0)
		leave();
	if (program_parse(job_now.body, job_now.len, ret_program, &err) < 0)
		leave();
	if (program_write(ret_program, AT_FDCWD, ahead.code, &err) < 0)
		joblink_fail(WORKER_JOB_FD, err.text);
	if (steady_begin)
		steady_begin();
	take_fds(ret_program, 0, &stdin_fd, ret_display);
	return job_tuple(ret_program, stdin_fd, ahead.input);
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
	PyObject
		*runner; /* takes the coroutine that a program with `await` is; NULL: none may be */
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
	Py_CLEAR(script->runner);
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

/* One code object, or two if the value of the last expression is to be shown. */
struct compiled {
	PyObject *code, *last; /* owned; `last` is NULL or None: there is none */
	int awaits;
};

/* The current exception keeps no frame of ours. */
static void drop_traceback(void)
{
	PyObject *type = NULL;
	PyObject *value = NULL;
	PyObject *traceback = NULL;

	PyErr_Fetch(&type, &value, &traceback);
	Py_XDECREF(traceback);
	PyErr_Restore(type, value, NULL);
}

static int script_compile(const struct script *script, const struct harness *harness, bool displays,
	struct compiled *ret_compiled)
{
	struct compiled made = { .code = NULL };
	PyObject *parts;

	if (!displays) {
		made.code = PyObject_CallFunction(harness->compile, "OOsii", script->source,
			script->path, "exec", script->runner ? TOP_LEVEL_AWAIT : 0, 1);
		*ret_compiled = made;
		return made.code ? 0 : -1;
	}
	parts = PyObject_CallFunctionObjArgs(
		harness->display.split, script->source, script->path, NULL);
	if (!parts || !PyArg_ParseTuple(parts, "OOi", &made.code, &made.last, &made.awaits)) {
		drop_traceback();
		return -1;
	}
	Py_INCREF(made.code);
	Py_INCREF(made.last);
	Py_DECREF(parts);
	*ret_compiled = made;
	return 0;
}

/* The value of a program that awaits, or NULL with the exception that it raised. */
static PyObject *drive(
	const struct harness *harness, const struct script *script, const struct compiled *compiled)
{
	PyObject *end = PyObject_CallFunctionObjArgs(
		harness->display.drive, compiled->code, compiled->last, script->scope, NULL);
	PyObject *value = NULL;
	PyObject *error = NULL;

	if (!end || !PyArg_ParseTuple(end, "OO", &value, &error))
		return NULL;
	if (error == Py_None) {
		Py_INCREF(value);
	} else {
		value = NULL;
		Py_INCREF(error);
		PyErr_Restore(PyObject_Type(error), error, PyException_GetTraceback(error));
	}
	Py_DECREF(end);
	return value;
}

/* The value of the last expression, None if it is not wanted, or NULL with an exception set. */
static PyObject *script_evaluate(
	const struct harness *harness, const struct script *script, const struct compiled *compiled)
{
	PyObject *result;

	if (compiled->awaits)
		return drive(harness, script, compiled);
	result = PyEval_EvalCode(compiled->code, script->scope, script->scope);
	if (result && !compiled->last && script->runner)
		result = PyObject_CallFunction(script->runner, "N", result);
	if (!result || !compiled->last || compiled->last == Py_None)
		return result;
	Py_DECREF(result);
	return PyEval_EvalCode(compiled->last, script->scope, script->scope);
}

/* Takes `value`, which may be NULL.  -1 with an exception set. */
static int script_show(const struct harness *harness, PyObject *value, bool displays)
{
	PyObject *shown;

	if (!value || !displays) {
		Py_XDECREF(value);
		return value ? 0 : -1;
	}
	shown = PyObject_CallFunctionObjArgs(harness->display.show, value, NULL);
	Py_DECREF(value);
	Py_XDECREF(shown);
	return shown ? 0 : -1;
}

/*
 * The exit code, negative for a signal.  `program`: reports to the daemon; NULL: a rehearsal, which
 * does not.
 */
static int script_run(
	struct script *script, const struct harness *harness, const struct program *program)
{
	bool aloud = program != NULL;
	bool displays = aloud && (program->flags & JOB_FLAG_DISPLAY);
	struct compiled compiled = { .code = NULL };
	int result = script_compile(script, harness, displays, &compiled);

	if (aloud)
		wait_at_gate(program);
	if (result < 0)
		return judge(harness, take_exception(), script->path, script->source, true, aloud);
	if (aloud) {
		audit_begin();
		tell(JOB_BEGUN, 0, NULL, 0);
	}
	result = script_show(harness, script_evaluate(harness, script, &compiled), displays);
	Py_DECREF(compiled.code);
	Py_XDECREF(compiled.last);
	if (result < 0)
		return judge(harness, take_exception(), script->path, script->source, false, aloud);
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

/*
 * What modules in C have printed.  A thread that reads or writes a stream may hold it for ever, and that one
 * is left alone.
 */
static void flush_c_stdout(void)
{
	if (ftrylockfile(stdout) != 0)
		return;
	(void)fflush_unlocked(stdout);
	funlockfile(stdout);
}

static bool flush_both(void)
{
	bool flushed = flush_one("stdout", true);

	(void)flush_one("stderr", false);
	flush_c_stdout();
	return flushed;
}

static void call_quietly(PyObject *call)
{
	PyObject *result = PyObject_CallObject(call, NULL);

	PyErr_Clear();
	Py_XDECREF(result);
}

/* An error, while figures are drawn for instance, is shown as one in an exit handler is. */
static void finish_part(PyObject *part)
{
	PyObject *result = PyObject_CallObject(part, NULL);

	if (!result)
		PyErr_WriteUnraisable(part);
	Py_XDECREF(result);
}

/* Whether stdout could be flushed.  Output of __del__ in forget() is flushed too. */
static bool wind_up(const struct harness *harness, struct script *script, bool displays)
{
	bool flushed;

	join_threads();
	if (displays)
		finish_part(harness->display.finish);
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

/* prepare() failed: the environment may be one that no process can have. */
__attribute__((noreturn)) static void fail_to_begin(void)
{
	PyObject *error = take_exception();
	PyObject *text = error ? PyObject_Str(error) : NULL;
	PyObject *bytes = text ? PyUnicode_AsUTF8String(text) : NULL;

	joblink_fail(
		WORKER_JOB_FD, bytes ? PyBytes_AsString(bytes) : "the job could not be prepared");
}

/* The program finds the tools of its client. */
static void offer_tools(
	const struct harness *harness, const struct program *program, struct script *script)
{
	PyObject *runner;

	if (!program->tools.len)
		return;
	runner = PyObject_CallFunction(harness->offer, "y#O", program->tools.bytes,
		(Py_ssize_t)program->tools.len, script->scope);
	if (!runner)
		fail_to_begin();
	if (runner == Py_None)
		Py_CLEAR(runner);
	script->runner = runner;
}

static void start_display(const struct harness *harness, int fd)
{
	PyObject *result = PyObject_CallFunction(harness->display.start, "i", fd);

	if (!result)
		fail_to_begin();
	Py_DECREF(result);
}

/* ---- a session: one program after the other, in one scope ------------------------------------ */

static void replace_fd(int fd, int number)
{
	if (dup2(fd, number) < 0)
		leave();
	close(fd);
}

/*
 * A cell may have closed them.  Then the next descriptors that come would have their numbers, and
 * replace_fd() would close what it has put there.
 */
static void fill_standard_fds(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) != fd)
			leave();
}

/* Without stdin a cell reads /dev/null, and not what was left of the last cell's. */
static int take_cell_stdin(int fd, struct err *err)
{
	if (fd >= 0)
		return program_stdin(fd, -1, JAIL_TMP_DIR, err);
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		leave();
	replace_fd(fd, STDIN_FILENO);
	return 0;
}

/* The child goes on here, too, when it becomes the worker. */
static void keep_state(void)
{
	enum kept_why why = KEPT_WELL;

	if (branch(WORKER_JOB_FD, &job_now, &why))
		worker = getpid();
	else
		tell(JOB_AGREED, (int32_t)why, NULL, 0);
}

/* What the cell brings has no room, or an earlier cell has left something in its way. */
static void refuse_cell(const struct program *program, int display, const char *why)
{
	if (display >= 0)
		close(display);
	if (joblink_refuse_cell(WORKER_JOB_FD, program->turn, why, NULL) < 0)
		leave();
}

/* False: the cell is refused, and another will come. */
static bool cell_take(struct program *ret_program, int *ret_display, bool *ret_has_stdin)
{
	struct err err = ERR_INIT;
	int stdin_fd = -1;
	int kind;

	fill_standard_fds();
	while ((kind = joblink_wait_next(WORKER_JOB_FD, &job_now, &err)) == JOB_KEEP)
		keep_state();
	if (kind != JOB_CELL || program_parse(job_now.body, job_now.len, ret_program, &err) < 0)
		leave();
	replace_fd(job_now.fds[0], STDOUT_FILENO);
	replace_fd(job_now.fds[1], STDERR_FILENO);
	take_fds(ret_program, 2, &stdin_fd, ret_display);
	*ret_has_stdin = stdin_fd >= 0;
	/* The program may stand in another folder now. */
	if (take_cell_stdin(stdin_fd, &err) < 0 ||
		program_write_files(ret_program, JAIL_WORK_DIR, &err) < 0) {
		refuse_cell(ret_program, *ret_display, err.text);
		return false;
	}
	audit_name(ret_program->entrypoint);
	return true;
}

/* Takes `args`. */
static PyObject *enter_scope(
	const struct harness *harness, const struct script *script, PyObject *args, bool has_stdin)
{
	PyObject *scope = PyObject_CallFunction(
		harness->cell, "OONi", script->name, script->source, args, has_stdin);

	if (!scope)
		fail_to_begin();
	return scope;
}

static void cell_init(struct script *script, const struct harness *harness,
	const struct program *program, bool has_stdin)
{
	memset(script, 0, sizeof(*script));
	script->source =
		PyBytes_FromStringAndSize(program->code.bytes, (Py_ssize_t)program->code.len);
	script->name = decode(program->entrypoint);
	if (!script->source || !script->name)
		leave();
	script->scope =
		enter_scope(harness, script, list_of(program->args, program->arg_count), has_stdin);
	script->path = PyDict_GetItemString(script->scope, "__file__");
	if (!script->path)
		leave();
	Py_INCREF(script->path);
}

static void cell_done(struct script *script)
{
	Py_CLEAR(script->source);
	Py_CLEAR(script->name);
	script_done(script);
}

/*
 * Everything that the cell has called is answered, and what it has displayed and printed is in its
 * pipes, before the daemon is told.
 */
static void end_cell(const struct harness *harness, const struct program *program, int exit_code)
{
	bool flushed;

	if (program->tools.len)
		finish_part(harness->rest);
	if (program->flags & JOB_FLAG_DISPLAY)
		finish_part(harness->display.rest);
	flushed = flush_both();
	streams_rest();
	audit_rest();
	if (exit_code < 0)
		exit_code = EXIT_SIGNALED - exit_code;
	if (!flushed)
		exit_code = EXIT_UNFLUSHED;
	tell(JOB_DONE, JOB_TURN_DONE(program->turn, exit_code), NULL, 0);
}

/*
 * Runs the cells of a session after the first.  Between two cells this thread keeps the
 * interpreter's lock, and the daemon freezes the process.
 */
__attribute__((noreturn)) static void run_cells(
	const struct harness *harness, struct program *program, int exit_code)
{
	struct script script;
	int display = -1;
	bool has_stdin = false;

	for (;;) {
		end_cell(harness, program, exit_code);
		if (is_child())
			child_exit(exit_code);
		if (harness->program)
			harness->after_cell();
		while (!harness->program && !cell_take(program, &display, &has_stdin))
			;
		cell_init(&script, harness, program, has_stdin);
		offer_tools(harness, program, &script);
		if (display >= 0)
			start_display(harness, display);
		exit_code = script_run(&script, harness, program);
		cell_done(&script);
	}
}

/* ---- a worker ------------------------------------------------------------------------------ */

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

static void use_packages(const struct harness *harness, const struct program *program)
{
	PyObject *names = list_of(program->packages, JOB_PACKAGES_OF(program->flags));
	PyObject *result =
		names ? PyObject_CallFunctionObjArgs(harness->use_packages, names, NULL) : NULL;

	if (!result)
		fail_to_begin();
	Py_DECREF(result);
	Py_DECREF(names);
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
	int display = -1;
	int exit_code;

	worker = getpid();
	ahead.code = program_file_ahead(AT_FDCWD);
	ahead.input = program_stdin_ahead(JAIL_TMP_DIR);
	streams_begin();
	if (joblink_ready(WORKER_JOB_FD) < 0)
		leave();
	if (harness->program)
		program = *harness->program;
	job = harness->program ? job_tuple(&program, -1, ahead.input)
			       : job_take(ahead, &program, &display);
	if (script_init(&script, harness, plain_scope, job) < 0)
		fail_to_begin();
	if (JOB_PACKAGES_OF(program.flags))
		use_packages(harness, &program);
	offer_tools(harness, &program, &script);
	if (program.flags & JOB_FLAG_SESSION) {
		Py_INCREF(Py_None);
		Py_DECREF(enter_scope(harness, &script, Py_None, false));
	}
	if (display >= 0)
		start_display(harness, display);
	hold_to_rules(&program);
	exit_code = script_run(&script, harness, &program);
	if (program.flags & JOB_FLAG_SESSION)
		run_cells(harness, &program, exit_code);
	if (!wind_up(harness, &script, display >= 0))
		exit_code = EXIT_UNFLUSHED;
	streams_end();
	if (exit_code < 0)
		die_of(-exit_code);
	if (is_child())
		child_exit(exit_code);
	harness->end(exit_code);
}
