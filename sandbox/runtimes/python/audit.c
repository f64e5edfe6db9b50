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
#include "sandbox/runtimes/python/caller.h"
#include "sandbox/runtimes/python/inspection.h"
#include "sandbox/runtimes/python/late_api.h"
#include "sandbox/worker.h"

#define TEXT_CHARACTERS 120
#define PATH_BYTES      512
#define GUARDS_MAX      128

static struct {
	bool on;
	bool begun; /* from here on the house calls nothing by itself */
	struct rules rules;
	char main[PATH_BYTES]; /* the program's file */
	PyObject *quote;       /* a text as JSON has it */
	PyObject *roots;       /* where modules are, as a tuple */
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
	PyObject *exact = text && PyUnicode_Check(text) ? PyUnicode_FromObject(text) : NULL;
	PyObject *beginning = exact ? PyUnicode_Substring(exact, 0, TEXT_CHARACTERS) : NULL;
	PyObject *bytes =
		beginning ? PyUnicode_AsEncodedString(beginning, "utf-8", "backslashreplace")
			  : NULL;
	PyObject *plain = bytes ? PyUnicode_FromEncodedObject(bytes, "utf-8", NULL) : NULL;
	PyObject *quoted = plain ? PyObject_CallFunctionObjArgs(audit.quote, plain, NULL) : NULL;

	PyErr_Clear();
	Py_XDECREF(plain);
	Py_XDECREF(bytes);
	Py_XDECREF(beginning);
	Py_XDECREF(exact);
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

void audit_begin(void)
{
	audit.begun = true;
}

/* ---- judging ---------------------------------------------------------------------------------- */

static bool begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* What has no frame is no longer the house's once the program has begun: a thread may begin with it. */
static bool is_programs(enum caller caller)
{
	return caller == CALLER_PROGRAM || (caller == CALLER_NOBODY && audit.begun);
}

__attribute__((noreturn)) static void deny(enum rule rule, PyObject *text)
{
	PyFrameObject *frame = PyEval_GetFrame();
	struct breach breach = { .rule = rule, .text = text, .column = -1 };

	Py_XINCREF((PyObject *)frame);
	while (frame) {
		breach.file = caller_file_of(frame);
		breach.line = PyFrame_GetLineNumber(frame);
		if (caller_of_file(breach.file) == CALLER_PROGRAM)
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
	PyObject *file = caller_file_of(PyEval_GetFrame());
	bool made = file && caller_is_trusted(file) && is_makers(file);

	Py_XDECREF(file);
	return made;
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

static void judge_dangerous(PyObject *name)
{
	if (rules_break_path(&audit.rules, RULE_IMPORT_DANGEROUS, name))
		deny(RULE_IMPORT_DANGEROUS, name);
}

static void judge_denied(PyObject *name)
{
	if (rules_break_path(&audit.rules, RULE_IMPORT_DENIED, name))
		deny(RULE_IMPORT_DENIED, name);
}

/*
 * The library imports what its text names.  What it imports by a name that it was given is what the
 * program wants; and one that does not speak of importing at all was handed the function.
 */
static void judge_librarys_import(PyObject *name)
{
	if (caller_names(name))
		return;
	judge_dangerous(name);
	if (!caller_says("__import__") && !caller_says("import_module") && !caller_belongs_to(name))
		judge_denied(name);
}

/* The name as plain text: what a program's own kind of text says of itself is nothing.  Owned, or NULL. */
static PyObject *import_of(PyObject *name)
{
	PyObject *plain = name && PyUnicode_Check(name) ? PyUnicode_FromObject(name) : NULL;

	PyErr_Clear();
	if (!plain || !is_inner(plain))
		return plain;
	Py_DECREF(plain);
	return NULL;
}

/* By __import__() and its like. */
static void judge_import(PyObject *called)
{
	enum caller caller = caller_now();
	PyObject *name = import_of(called);

	if (name && caller == CALLER_LIBRARY) {
		judge_librarys_import(name);
	} else if (name && is_programs(caller)) {
		judge_dangerous(name);
		judge_denied(name);
	}
	Py_XDECREF(name);
}

/*
 * The machinery of imports at work for a program: it may have been driven by hand.  Modules are judged by
 * their last name alone, too: that is how it finds compiled ones.
 */
static bool is_driven(void)
{
	return audit.rules.on[RULE_IMPORT_DANGEROUS] && is_programs(caller_behind_import());
}

static void judge_driven(PyObject *called)
{
	PyObject *name = is_driven() ? import_of(called) : NULL;
	PyObject *parts = name ? PyObject_CallMethod(name, "rpartition", "s", ".") : NULL;

	PyErr_Clear();
	if (parts) {
		judge_dangerous(name);
		judge_dangerous(PyTuple_GetItem(parts, 2));
	}
	Py_XDECREF(parts);
	Py_XDECREF(name);
}

static void on_import(PyObject *args)
{
	enum caller caller = caller_now();

	if (caller == CALLER_IMPORT)
		judge_driven(arg_of(args, 0));
	else if (caller != CALLER_LIBRARY)
		judge_import(arg_of(args, 0));
}

/* How long the folder is that a module's file is below. */
static size_t root_of(const char *path)
{
	size_t longest = 0;

	for (Py_ssize_t i = 0; i < PyTuple_Size(audit.roots); i++) {
		PyObject *root = PyTuple_GetItem(audit.roots, i);
		const char *folder =
			PyUnicode_Check(root) ? PyUnicode_AsUTF8AndSize(root, NULL) : NULL;
		size_t len = folder ? strlen(folder) : 0;

		if (len > longest && begins_with(path, folder) && path[len] == '/')
			longest = len;
	}
	PyErr_Clear();
	return longest ? longest + 1 : 0;
}

/* a/b.py below a root, and a/b/__init__.py, are a.b; and so is <frozen a.b>. */
static void name_module(const char *path, char name[PATH_BYTES])
{
	static const char *const ends[] = { ">", ".py", ".pyc", "/__init__" };
	size_t len;

	cut_printf(name, PATH_BYTES, "%s",
		path + (path[0] == '<' ? strlen("<frozen ") : root_of(path)));
	len = strlen(name);
	for (size_t i = 0; i < COUNT_OF(ends); i++)
		if (len > strlen(ends[i]) && strcmp(name + len - strlen(ends[i]), ends[i]) == 0)
			name[len -= strlen(ends[i])] = '\0';
	for (char *at = name; *at; at++)
		if (*at == '/')
			*at = '.';
}

/* A module of the library is about to run: what its file says is not a program's to choose. */
static void judge_module_file(PyObject *file)
{
	const char *path = file ? PyUnicode_AsUTF8AndSize(file, NULL) : NULL;
	char name[PATH_BYTES];
	PyObject *module;

	PyErr_Clear();
	if (!path || !is_driven())
		return;
	name_module(path, name);
	module = PyUnicode_FromString(name);
	if (module)
		judge_dangerous(module);
	PyErr_Clear();
	Py_XDECREF(module);
}

/* Code that says it is of a file that nobody can write speaks as the library from then on. */
static void judge_pose(PyObject *file)
{
	if (caller_is_trusted(file))
		deny(RULE_CALL_DENIED, file);
}

static void judge_code(PyObject *code)
{
	PyObject *file = caller_file_of_code(code);

	judge_pose(file);
	Py_XDECREF(file);
	audit_code(code);
}

/* exec() and eval() of code; each module that is imported, which no program does by its own hand. */
static void on_exec(PyObject *args)
{
	PyObject *code = arg_of(args, 0);
	enum caller caller = caller_now();
	PyObject *file;

	if (!code || !bytecode_is_code(code))
		return;
	file = caller_file_of_code(code);
	if (is_programs(caller))
		judge_code(code);
	else if (!caller_is_trusted(file) && !is_made_by_library())
		audit_code(code);
	else if (caller == CALLER_IMPORT)
		judge_module_file(file);
	Py_XDECREF(file);
}

/* A text becomes code.  One that says it came from the library lies, when a program has it made. */
static void on_compile(PyObject *args)
{
	PyObject *name = arg_of(args, 1);
	enum caller caller = caller_now();

	if (caller == CALLER_PROGRAM) /* the interpreter itself compiles the lines of a traceback */
		judge_builtin("compile");
	if (caller != CALLER_IMPORT && name != Py_None)
		judge_pose(name);
}

/* Code is put together by hand; what the library makes anew keeps the name that it had. */
static void on_code(PyObject *args)
{
	PyObject *path = PyUnicode_FromString("types.CodeType");
	enum caller caller = caller_now();

	if (is_programs(caller) && path)
		judge_path(path);
	if (caller != CALLER_IMPORT)
		judge_pose(arg_of(args, 1));
	Py_XDECREF(path);
}

/* A function is made of code, whoever made that. */
static void on_function(PyObject *args)
{
	PyObject *code = arg_of(args, 0);

	if (is_programs(caller_now()) && code && bytecode_is_code(code))
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
	PyObject *number = arg_of(args, 2);
	long flags = number && PyLong_Check(number) ? PyLong_AsLong(number) : O_RDWR;
	enum caller caller = caller_now();

	if (caller == CALLER_IMPORT || is_harmless_read(arg_of(args, 0), flags) ||
		(caller == CALLER_NOBODY && (flags & O_ACCMODE) == O_RDONLY))
		return; /* the interpreter shows where an error was */
	judge_builtin("open");
}

/* What is read or set beside the attributes that everybody may. */
static void on_attribute(PyObject *args)
{
	PyObject *name = arg_of(args, 1);
	PyObject *value = arg_of(args, 2);
	enum caller caller = caller_now();

	if (value && bytecode_is_code(value) && caller != CALLER_IMPORT)
		judge_code(value);
	if (!name || !PyUnicode_Check(name) || !is_programs(caller))
		return;
	if (rules_break_word(&audit.rules, RULE_ATTRIBUTE_DENIED, name))
		deny(RULE_ATTRIBUTE_DENIED, name);
	if (rules_break_dunder(&audit.rules, name))
		deny(RULE_DUNDER_DENIED, name);
}

static void on_breakpoint(PyObject *args)
{
	(void)args;
	if (is_programs(caller_now()))
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
	enum caller caller = caller_now();
	PyObject *path;

	if (!is_programs(caller) && !(caller == CALLER_LIBRARY && reaches_system(event)))
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

	if (is_programs(caller_now()) || is_handed(name))
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

/* A module that is part of the interpreter is made without an event. */
static PyObject *build_first(PyObject *self, PyObject *args, PyObject *named)
{
	PyObject *spec = arg_of(args, 0);
	PyObject *name = spec ? PyObject_GetAttrString(spec, "name") : NULL;

	PyErr_Clear();
	judge_driven(name);
	Py_XDECREF(name);
	return go_on(self, args, named);
}

/* Code is given another file's name in its place. */
static PyObject *rename_first(PyObject *self, PyObject *args, PyObject *named)
{
	if (caller_now() != CALLER_IMPORT)
		judge_pose(arg_of(args, 1));
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

static int guard_all(void)
{
	PyObject *builtins = PyImport_ImportModule("builtins");
	bool imports = audit.rules.on[RULE_IMPORT_DENIED] || audit.rules.on[RULE_IMPORT_DANGEROUS];
	int result = builtins ? guard_one("_imp", "_fix_co_filename", rename_first) : -1;

	if (result == 0)
		result = guard_builtins(builtins, RULE_NAME_DENIED);
	if (result == 0)
		result = guard_builtins(builtins, RULE_CALL_DENIED);
	if (result == 0 && imports)
		result = guard_imports();
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
	audit.roots = PySequence_Tuple(PySys_GetObject("path"));
	if (!audit.roots || rules_read(&audit.rules, rules) < 0 || guard_all() < 0)
		return -1;
	audit.on = true;
	return PySys_AddAuditHook(hear, NULL);
}
