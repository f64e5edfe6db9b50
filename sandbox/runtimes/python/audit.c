#include "sandbox/runtimes/python/audit.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/container.h"
#include "proto/jail_dirs.h"
#include "sandbox/child_exit.h"
#include "sandbox/joblink.h"
#include "sandbox/runtimes/python/bytecode.h"
#include "sandbox/runtimes/python/inspection.h"
#include "sandbox/runtimes/python/late_api.h"
#include "sandbox/worker.h"

#define TEXT_CHARACTERS 120
#define PATH_BYTES      512
#define GUARDS_MAX      128

static struct {
	bool on;
	struct rules rules;
	char main[PATH_BYTES]; /* the program's file */
	PyObject *quote;       /* a text as JSON has it */
} audit;

/* ---- telling -------------------------------------------------------------------------------- */

__attribute__((noreturn)) static void end_run(const char *report, size_t len)
{
	/* The interpreter's lock stays with us, so nothing of the program goes on meanwhile. */
	if (report && joblink_tell(WORKER_JOB_FD, JOB_DENIED, 0, report, len, NULL) == 0)
		joblink_linger(WORKER_JOB_FD);
	child_exit(1);
}

/* As a text in JSON, at most so long. */
static PyObject *quoted(PyObject *text)
{
	PyObject *beginning = text ? PySequence_GetSlice(text, 0, TEXT_CHARACTERS) : NULL;
	PyObject *quoted =
		beginning ? PyObject_CallFunctionObjArgs(audit.quote, beginning, NULL) : NULL;

	PyErr_Clear();
	Py_XDECREF(beginning);
	return quoted ? quoted : PyUnicode_FromString("\"\"");
}

__attribute__((noreturn)) static void tell_breach(const struct breach *breach)
{
	PyObject *text = quoted(breach->text);
	PyObject *file = quoted(breach->file);
	PyObject *report =
		text && file ? PyUnicode_FromFormat(
				       "{\"rule\":\"%s\",\"line\":%d,\"column\":%d,\"text\":%U,"
				       "\"file\":%U}",
				       rule_id(breach->rule), breach->line, breach->column + 1,
				       text, file)
			     : NULL;
	Py_ssize_t len = 0;
	const char *bytes = report ? PyUnicode_AsUTF8AndSize(report, &len) : NULL;

	end_run(bytes, (size_t)len);
}

void audit_code(PyObject *code)
{
	struct breach breach = { 0 };
	int found = audit.on ? inspection_of(&audit.rules, code, &breach) : 0;

	if (found > 0)
		tell_breach(&breach);
	if (found < 0)
		end_run(NULL, 0);
}

/* ---- whose code is it? ------------------------------------------------------------------------ */

static bool begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* Where a program can write; nothing of the runtime's is there. */
static bool is_writable(const char *path)
{
	return path[0] != '/' || begins_with(path, JAIL_WORK_DIR "/") ||
	       begins_with(path, JAIL_TMP_DIR "/") || begins_with(path, "/dev/") ||
	       strstr(path, "/../");
}

/* The library's own code says where it comes from, and nobody else can say that: see on_compile(). */
static bool is_trusted_name(PyObject *name)
{
	const char *text =
		name && PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;

	PyErr_Clear();
	return text && (begins_with(text, "<frozen ") || !is_writable(text));
}

static PyObject *file_of_code(PyObject *code)
{
	PyObject *name = code ? PyObject_GetAttrString(code, "co_filename") : NULL;

	PyErr_Clear();
	return name;
}

/* Owned, or NULL. */
static PyObject *file_of(PyFrameObject *frame)
{
	PyObject *code = frame ? (PyObject *)PyFrame_GetCode(frame) : NULL;
	PyObject *name = file_of_code(code);

	Py_XDECREF(code);
	return name;
}

enum caller {
	CALLER_NOBODY,  /* the house itself */
	CALLER_PROGRAM, /* code of the program, without a frame between */
	CALLER_LIBRARY, /* the library, for the program */
	CALLER_IMPORT,  /* the library, while it imports */
};

static enum caller kind_of(PyObject *file)
{
	if (!is_trusted_name(file))
		return CALLER_PROGRAM;
	return begins_with(PyUnicode_AsUTF8AndSize(file, NULL), "<frozen importlib")
		       ? CALLER_IMPORT
		       : CALLER_LIBRARY;
}

/* Who is at work now.  An import may be deep below a library that the program called. */
static enum caller who_calls(void)
{
	PyFrameObject *frame = PyEval_GetFrame();
	enum caller caller = CALLER_NOBODY;

	Py_XINCREF((PyObject *)frame);
	for (int depth = 0; frame && depth < 64; depth++) {
		PyObject *file = file_of(frame);
		PyFrameObject *back = PyFrame_GetBack(frame);
		enum caller kind = kind_of(file);

		Py_XDECREF(file);
		Py_DECREF((PyObject *)frame);
		frame = back;
		if (depth == 0)
			caller = kind;
		if (kind == CALLER_IMPORT)
			caller = CALLER_IMPORT;
		if (kind == CALLER_IMPORT || kind == CALLER_PROGRAM)
			break;
	}
	Py_XDECREF((PyObject *)frame);
	return caller;
}

__attribute__((noreturn)) static void deny(enum rule rule, PyObject *text)
{
	PyFrameObject *frame = PyEval_GetFrame();
	struct breach breach = { .rule = rule, .text = text, .column = -1 };

	Py_XINCREF((PyObject *)frame);
	while (frame) {
		breach.file = file_of(frame);
		breach.line = PyFrame_GetLineNumber(frame);
		if (kind_of(breach.file) == CALLER_PROGRAM)
			break;
		frame = PyFrame_GetBack(frame);
	}
	tell_breach(&breach);
}

/* Breaks a rule by what is called, told as a path: the call itself, or the module that it is of. */
static void judge_path(PyObject *path)
{
	if (rules_break_path(&audit.rules, RULE_CALL_DENIED, path))
		deny(RULE_CALL_DENIED, path);
	if (rules_break_path(&audit.rules, RULE_IMPORT_DANGEROUS, path))
		deny(RULE_IMPORT_DANGEROUS, path);
	if (rules_break_path(&audit.rules, RULE_IMPORT_MEMBER, path))
		deny(RULE_IMPORT_MEMBER, path);
}

static void judge_module(PyObject *path)
{
	PyObject *parts = PyObject_CallMethod(path, "partition", "s", ".");
	PyObject *module = parts ? PyTuple_GetItem(parts, 0) : NULL;

	PyErr_Clear();
	if (module && rules_break_path(&audit.rules, RULE_IMPORT_DENIED, module))
		deny(RULE_IMPORT_DENIED, path);
	Py_XDECREF(parts);
}

/* A builtin by its name. */
static void judge_builtin(const char *name)
{
	PyObject *text = PyUnicode_FromString(name);

	if (text && rules_break_word(&audit.rules, RULE_CALL_DENIED, text))
		deny(RULE_CALL_DENIED, text);
	if (text && rules_break_word(&audit.rules, RULE_NAME_DENIED, text))
		deny(RULE_NAME_DENIED, text);
	PyErr_Clear();
	Py_XDECREF(text);
}

/* ---- events ----------------------------------------------------------------------------------- */

static PyObject *arg_of(PyObject *args, Py_ssize_t index)
{
	return index < PyTuple_Size(args) ? PyTuple_GetItem(args, index) : NULL;
}

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
	PyObject *file = file_of(PyEval_GetFrame());
	bool made = file && is_trusted_name(file) && is_makers(file);

	Py_XDECREF(file);
	return made;
}

/* exec() and eval() of code; each module that is imported, which no program does by its own hand. */
static void on_exec(PyObject *args)
{
	PyObject *code = arg_of(args, 0);
	PyObject *file;

	if (!code || !bytecode_is_code(code))
		return;
	file = file_of_code(code);
	if (who_calls() == CALLER_PROGRAM || (!is_trusted_name(file) && !is_made_by_library()))
		audit_code(code);
	Py_XDECREF(file);
}

/* A text becomes code.  One that says it came from the library lies, when a program has it made. */
static void on_compile(PyObject *args)
{
	PyObject *name = arg_of(args, 1);

	if (who_calls() == CALLER_PROGRAM)
		judge_builtin("compile");
	if (who_calls() != CALLER_IMPORT && is_trusted_name(name) && name != Py_None)
		deny(RULE_CALL_DENIED, name);
}

/* Code is put together by hand. */
static void on_code(PyObject *args)
{
	PyObject *path = PyUnicode_FromString("types.CodeType");

	(void)args;
	if (who_calls() == CALLER_PROGRAM && path)
		judge_path(path);
	Py_XDECREF(path);
}

/* A function is made of code, whoever made that. */
static void on_function(PyObject *args)
{
	PyObject *code = arg_of(args, 0);

	if (who_calls() == CALLER_PROGRAM && code && bytecode_is_code(code))
		audit_code(code);
}

/* What C code imports for itself, with the program's frame on top. */
static bool is_inner(PyObject *name)
{
	static const char *const inner[] = { "__future__", "_strptime", "encodings", "_codecs",
		"unicodedata", "stringprep", "_pydecimal", "_pydatetime", "_locale", "locale",
		"copyreg", "_collections_abc", "io", "warnings", "linecache", "tokenize",
		"traceback", "importlib._bootstrap_external" };
	const char *text = PyUnicode_AsUTF8AndSize(name, NULL);

	for (size_t i = 0; text && i < COUNT_OF(inner); i++) {
		size_t len = strlen(inner[i]);

		if (begins_with(text, inner[i]) &&
			(text[len] == '\0' || text[len] == '.' || text[len] == '_'))
			return true;
	}
	return false;
}

static void judge_import(PyObject *name)
{
	if (!name || !PyUnicode_Check(name) || is_inner(name) || who_calls() != CALLER_PROGRAM)
		return;
	if (rules_break_path(&audit.rules, RULE_IMPORT_DANGEROUS, name))
		deny(RULE_IMPORT_DANGEROUS, name);
	if (rules_break_path(&audit.rules, RULE_IMPORT_DENIED, name))
		deny(RULE_IMPORT_DENIED, name);
}

static void on_import(PyObject *args)
{
	judge_import(arg_of(args, 0));
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
	return strcmp(text, audit.main) == 0 || !is_writable(text);
}

static void on_open(PyObject *args)
{
	PyObject *flags = arg_of(args, 2);
	enum caller caller = who_calls();

	if (caller == CALLER_NOBODY || caller == CALLER_IMPORT ||
		is_harmless_read(arg_of(args, 0),
			flags && PyLong_Check(flags) ? PyLong_AsLong(flags) : O_RDWR))
		return;
	judge_builtin("open");
}

/* What is read or set beside the attributes that everybody may. */
static void on_attribute(PyObject *args)
{
	PyObject *name = arg_of(args, 1);
	PyObject *value = arg_of(args, 2);

	if (!name || !PyUnicode_Check(name) || who_calls() != CALLER_PROGRAM)
		return;
	if (value && bytecode_is_code(value))
		audit_code(value);
	if (rules_break_word(&audit.rules, RULE_ATTRIBUTE_DENIED, name))
		deny(RULE_ATTRIBUTE_DENIED, name);
	if (rules_break_dunder(&audit.rules, name))
		deny(RULE_DUNDER_DENIED, name);
}

static void on_breakpoint(PyObject *args)
{
	(void)args;
	if (who_calls() == CALLER_PROGRAM)
		judge_builtin("breakpoint");
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
	{ "import", on_import },
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
		if (begins_with(event, heads[i]))
			return true;
	return false;
}

static void on_call(const char *event)
{
	enum caller caller = who_calls();
	PyObject *path;

	if (caller != CALLER_PROGRAM && !(caller == CALLER_LIBRARY && reaches_system(event)))
		return;
	path = PyUnicode_FromString(event);
	if (!path)
		end_run(NULL, 0);
	judge_path(path);
	judge_module(path);
	Py_DECREF(path);
}

/* The exception in hand, if there is one, is the interpreter's and stays. */
static int hear(const char *event, PyObject *args, void *data)
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

/* ---- builtins that ask first ------------------------------------------------------------------ */

/* `self` is (name, what it stands before). */
static PyObject *go_on(PyObject *self, PyObject *args, PyObject *named)
{
	return PyObject_Call(PyTuple_GetItem(self, 1), args, named);
}

static PyObject *ask_first(PyObject *self, PyObject *args, PyObject *named)
{
	const char *name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(self, 0), NULL);

	if (name && who_calls() == CALLER_PROGRAM)
		judge_builtin(name);
	return go_on(self, args, named);
}

/* A module that is loaded already is given out without an event. */
static PyObject *import_first(PyObject *self, PyObject *args, PyObject *named)
{
	PyObject *name = arg_of(args, 0);

	judge_import(name ? name : named ? PyDict_GetItemString(named, "name") : NULL);
	return go_on(self, args, named);
}

/* Puts a function of ours before `function`, which is `owner`'s of that name. */
static int guard(PyObject *owner, const char *name, PyObject *function, PyCFunctionWithKeywords ask)
{
	static PyMethodDef methods[GUARDS_MAX];
	static size_t count;
	PyMethodDef *method = &methods[count < GUARDS_MAX ? count++ : 0];
	PyObject *self = Py_BuildValue("(sO)", name, function);
	PyObject *module = PyObject_GetAttrString(owner, "__name__");
	PyObject *call = NULL;
	int result = -1;

	if (self && module && count < GUARDS_MAX) {
		*method = (PyMethodDef){ PyUnicode_AsUTF8AndSize(PyTuple_GetItem(self, 0), NULL),
			(PyCFunction)(void (*)(void))ask, METH_VARARGS | METH_KEYWORDS, NULL };
		call = PyCFunction_NewEx(method, self, module);
	}
	if (call)
		result = PyObject_SetAttrString(owner, name, call);
	Py_XDECREF(call);
	Py_XDECREF(module);
	Py_XDECREF(self); /* the call keeps it, and with it the name that the method points to */
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

static int guard_imports(PyObject *owner, const char *name)
{
	PyObject *function = PyObject_GetAttrString(owner, name);
	int result = function ? guard(owner, name, function, import_first) : -1;

	Py_XDECREF(function);
	return result;
}

static int guard_all(void)
{
	PyObject *builtins = PyImport_ImportModule("builtins");
	PyObject *importlib = PyImport_ImportModule("importlib");
	bool imports = audit.rules.on[RULE_IMPORT_DENIED] || audit.rules.on[RULE_IMPORT_DANGEROUS];
	int result = builtins && importlib ? 0 : -1;

	if (result == 0)
		result = guard_builtins(builtins, RULE_NAME_DENIED);
	if (result == 0)
		result = guard_builtins(builtins, RULE_CALL_DENIED);
	if (result == 0 && imports)
		result = guard_imports(builtins, "__import__");
	if (result == 0 && imports)
		result = guard_imports(importlib, "import_module");
	Py_XDECREF(importlib);
	Py_XDECREF(builtins);
	return result;
}

/* ---- a life ----------------------------------------------------------------------------------- */

int audit_init(void)
{
	PyObject *module = PyImport_ImportModule("_json");

	if (!PySys_AddAuditHook || !PyFrame_GetCode || !PyFrame_GetBack || !PyFrame_GetLineNumber ||
		!PyUnicode_AsUTF8AndSize) {
		PyErr_SetString(PyExc_SystemError, "this interpreter is too old");
		return -1;
	}
	audit.quote = module ? PyObject_GetAttrString(module, "encode_basestring_ascii") : NULL;
	Py_XDECREF(module);
	return audit.quote ? bytecode_init() : -1;
}

int audit_start(struct span rules, struct span name)
{
	cut_printf(
		audit.main, sizeof(audit.main), JAIL_WORK_DIR "/%.*s", (int)name.len, name.bytes);
	if (rules_read(&audit.rules, rules) < 0 || guard_all() < 0)
		return -1;
	audit.on = true;
	return PySys_AddAuditHook(hear, NULL);
}
