#include <fcntl.h>

#include "proto/base/container.h"
#include "sandbox/runtimes/python/audit_parts.h"
#include "sandbox/runtimes/python/bytecode.h"
#include "sandbox/runtimes/python/late_api.h"

/*
 * The library makes code too (named tuples, data classes), out of names that the program gives it and
 * that are checked there; what it makes for whoever hands it a text is looked through.
 */
static bool is_makers(PyObject *file)
{
	static const char *const makers[] = { "/collections/__init__.py", "/dataclasses.py",
		"/enum.py", "/functools.py" };
	const char *text = PyUnicode_AsUTF8AndSize(file, NULL);
	size_t len = text ? strlen(text) : 0;

	for (size_t i = 0; i < COUNT_OF(makers); i++)
		if (len > strlen(makers[i]) &&
			strcmp(text + len - strlen(makers[i]), makers[i]) == 0)
			return true;
	return false;
}

static bool is_made_by_library(void)
{
	PyObject *file = caller_file_of(PyEval_GetFrame());
	bool made = file && caller_is_trusted(file) && is_makers(file);

	Py_XDECREF(file);
	return made;
}

static void judge_code(PyObject *code)
{
	PyObject *file = caller_file_of_code(code);

	audit_judge_pose(file);
	Py_XDECREF(file);
	audit_code(code);
}

/* exec() and eval() of code; each module that is imported, which no program does by its own hand. */
static void on_exec(PyObject *args)
{
	PyObject *code = audit_arg(args, 0);
	enum caller caller = caller_now();
	PyObject *file;

	if (!code || !bytecode_is_code(code))
		return;
	file = caller_file_of_code(code);
	if (audit_is_programs(caller))
		judge_code(code);
	else if (!caller_is_trusted(file) && !is_made_by_library())
		audit_code(code);
	else if (caller == CALLER_IMPORT)
		audit_judge_module_file(file);
	Py_XDECREF(file);
}

/* A text becomes code.  One that says it came from the library lies, when a program has it made. */
static void on_compile(PyObject *args)
{
	PyObject *name = audit_arg(args, 1);
	enum caller caller = caller_now();

	if (caller == CALLER_PROGRAM) /* the interpreter itself compiles the lines of a traceback */
		audit_judge_builtin("compile");
	if (caller != CALLER_IMPORT && name != Py_None)
		audit_judge_pose(name);
}

/* Code is put together by hand; what the library makes anew keeps the name that it had. */
static void on_code(PyObject *args)
{
	PyObject *path = PyUnicode_FromString("types.CodeType");
	enum caller caller = caller_now();

	if (audit_is_programs(caller) && path)
		audit_judge_path(path);
	if (caller != CALLER_IMPORT)
		audit_judge_pose(audit_arg(args, 1));
	Py_XDECREF(path);
}

/* A function is made of code, whoever made that. */
static void on_function(PyObject *args)
{
	PyObject *code = audit_arg(args, 0);

	if (audit_is_programs(caller_now()) && code && bytecode_is_code(code))
		judge_code(code);
}

/*
 * The text of a program is read for tracebacks and warnings; the library, also what of it is C, reads
 * its own files.  A program's own call of open() does not come so far.
 */
static bool is_harmless_read(PyObject *path, long flags)
{
	const char *text =
		path && PyUnicode_Check(path) ? PyUnicode_AsUTF8AndSize(path, NULL) : NULL;

	PyErr_Clear();
	if (!text || (flags & O_ACCMODE) != O_RDONLY)
		return false;
	return strcmp(text, audit.main) == 0 || !caller_can_write(text);
}

static void on_open(PyObject *args)
{
	PyObject *number = audit_arg(args, 2);
	long flags = number && PyLong_Check(number) ? PyLong_AsLong(number) : O_RDWR;
	enum caller caller = caller_now();

	if (caller == CALLER_IMPORT || is_harmless_read(audit_arg(args, 0), flags) ||
		(caller == CALLER_NOBODY && (flags & O_ACCMODE) == O_RDONLY))
		return; /* the interpreter shows where an error was */
	audit_judge_builtin("open");
}

/* What is read or set beside the attributes that everybody may. */
static void on_attribute(PyObject *args)
{
	PyObject *name = audit_arg(args, 1);
	PyObject *value = audit_arg(args, 2);
	enum caller caller = caller_now();

	if (value && bytecode_is_code(value) && caller != CALLER_IMPORT)
		judge_code(value);
	if (!name || !PyUnicode_Check(name) || !audit_is_programs(caller))
		return;
	if (rules_break_word(&audit.rules, RULE_ATTRIBUTE_DENIED, name))
		audit_deny(RULE_ATTRIBUTE_DENIED, name);
	if (rules_break_dunder(&audit.rules, name))
		audit_deny(RULE_DUNDER_DENIED, name);
}

static void on_breakpoint(PyObject *args)
{
	(void)args;
	if (audit_is_programs(caller_now()))
		audit_judge_builtin("breakpoint");
}

static void on_nothing(PyObject *args)
{
	(void)args;
}

/* Events that are more than a call of a function of that path. */
static const struct {
	const char *event;
	void (*hear)(PyObject *args);
} events[] = {
	{ "exec", on_exec },
	{ "compile", on_compile },
	{ "import", audit_on_import },
	{ "open", on_open },
	{ "code.__new__", on_code },
	{ "function.__new__", on_function },
	{ "object.__getattr__", on_attribute },
	{ "object.__setattr__", on_attribute },
	{ "object.__delattr__", on_attribute },
	{ "builtins.breakpoint", on_breakpoint },
	{ "builtins.id", on_nothing },
	{ "builtins.input", on_nothing },
	{ "builtins.input/result", on_nothing },
	{ "array.__new__", on_nothing },
	{ "sys.excepthook", on_nothing },
	{ "sys.unraisablehook", on_nothing },
	{ "sys.addaudithook", on_nothing },
	{ "cpython.run_file", on_nothing },
};

/* What reaches the system is the program's doing, however deep in the library it happens. */
static bool reaches_system(const char *event)
{
	static const char *const heads[] = { "os.system", "os.exec", "os.fork", "os.spawn",
		"os.posix_spawn", "os.startfile", "os.kill", "subprocess.", "pty.", "socket.",
		"ctypes.", "ftplib.", "http.client.", "urllib.", "smtplib.", "poplib.", "imaplib.",
		"nntplib.", "telnetlib.", "webbrowser.", "mmap.", "signal." };

	for (size_t i = 0; i < COUNT_OF(heads); i++)
		if (audit_begins(event, heads[i]))
			return true;
	return false;
}

static void judge_module(PyObject *path)
{
	PyObject *parts = PyObject_CallMethod(path, "partition", "s", ".");
	PyObject *module = parts ? PyTuple_GetItem(parts, 0) : NULL;

	PyErr_Clear();
	if (module && rules_break_path(&audit.rules, RULE_IMPORT_DENIED, module))
		audit_deny(RULE_IMPORT_DENIED, path);
	Py_XDECREF(parts);
}

static void on_call(const char *event)
{
	enum caller caller = caller_now();
	PyObject *path;

	if (!audit_is_programs(caller) && !(caller == CALLER_LIBRARY && reaches_system(event)))
		return;
	path = PyUnicode_FromString(event);
	if (!path)
		audit_lost();
	audit_judge_path(path);
	judge_module(path);
	Py_DECREF(path);
}

/* The exception in hand, if there is one, is the interpreter's and stays. */
int audit_hear(const char *event, PyObject *args, void *data)
{
	PyObject *kept[3];

	(void)data;
	PyErr_Fetch(&kept[0], &kept[1], &kept[2]);
	for (size_t i = 0; i < COUNT_OF(events); i++)
		if (strcmp(event, events[i].event) == 0) {
			events[i].hear(args);
			PyErr_Restore(kept[0], kept[1], kept[2]);
			return 0;
		}
	if (strchr(event, '.'))
		on_call(event);
	PyErr_Restore(kept[0], kept[1], kept[2]);
	return 0;
}
