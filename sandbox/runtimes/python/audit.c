#include "sandbox/runtimes/python/audit.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/jail_dirs.h"
#include "sandbox/child_exit.h"
#include "sandbox/runtimes/python/caller.h"
#include "sandbox/runtimes/python/late_api.h"
#include "sandbox/runtimes/python/rules.h"
#include "sandbox/worker/joblink.h"
#include "sandbox/worker/worker.h"

#define PATH_BYTES      512
#define TEXT_CHARACTERS 120
#define GUARDS_MAX      128

static struct {
	bool begun; /* from here on the interpreter calls nothing by itself */
	struct rules rules;
	char main[PATH_BYTES]; /* the program's file */
	PyObject *quote;       /* encodes a text as JSON */
	PyObject *roots;       /* sys.path before the program began, as a tuple */
	PyObject *code_type;
} audit;

static PyObject *argument(PyObject *args, Py_ssize_t index)
{
	return index < PyTuple_Size(args) ? PyTuple_GetItem(args, index) : NULL;
}

static bool is_code(PyObject *object)
{
	return object && (PyObject *)Py_TYPE(object) == audit.code_type;
}

/* ---- reporting a breach ---------------------------------------------------------------------- */

__attribute__((noreturn)) static void end_run(const char *report, size_t len)
{
	/*
	 * This thread keeps the interpreter's lock, so no other thread of the program runs
	 * meanwhile.
	 */
	if (report && joblink_tell(WORKER_JOB_FD, JOB_DENIED, 0, report, len, NULL) == 0)
		joblink_linger(WORKER_JOB_FD);
	child_exit(1);
}

/* The beginning of a text, as a JSON string. */
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

/* Reports a breach at the line of the program that is running, and ends the run. */
__attribute__((noreturn)) static void deny(enum rule rule, PyObject *what)
{
	PyFrameObject *frame = PyEval_GetFrame();
	PyObject *file = NULL;
	PyObject *report = NULL;
	const char *bytes = NULL;
	Py_ssize_t len = 0;
	int line = 0;

	Py_XINCREF((PyObject *)frame);
	while (frame) {
		file = caller_file_of(frame);
		line = PyFrame_GetLineNumber(frame);
		if (caller_of_file(file) == CALLER_PROGRAM)
			break;
		frame = PyFrame_GetBack(frame);
	}
	file = quoted(file);
	what = quoted(what);
	if (file && what)
		report = PyUnicode_FromFormat(
			"{\"rule\":\"%s\",\"line\":%d,\"column\":0,\"text\":%U,\"file\":%U}",
			rule_id(rule), line, what, file);
	if (report)
		bytes = PyUnicode_AsUTF8AndSize(report, &len);
	end_run(bytes, (size_t)len);
}

/* ---- judging --------------------------------------------------------------------------------- */

/*
 * Once the program has begun, a call without a frame is the program's: a thread may begin with it.
 */
static bool is_programs(enum caller caller)
{
	return caller == CALLER_PROGRAM || (caller == CALLER_NOBODY && audit.begun);
}

/* Denies when the rule is on and breaks with this path, or with this word. */
static void judge_path(enum rule rule, PyObject *path)
{
	if (rules_break_path(&audit.rules, rule, path))
		deny(rule, path);
}

static void judge_word(enum rule rule, PyObject *word)
{
	if (rules_break_word(&audit.rules, rule, word))
		deny(rule, word);
}

/* A call of the function at this path. */
static void judge_call(PyObject *path)
{
	judge_path(RULE_CALL_DENIED, path);
	judge_path(RULE_IMPORT_DANGEROUS, path);
	judge_path(RULE_IMPORT_MEMBER, path);
}

/* A call of the builtin function of this name. */
static void judge_builtin(const char *name)
{
	PyObject *text = PyUnicode_FromString(name);

	if (text) {
		judge_word(RULE_CALL_DENIED, text);
		judge_word(RULE_NAME_DENIED, text);
		judge_word(RULE_BUILTIN_DENIED, text);
	}
	PyErr_Clear();
	Py_XDECREF(text);
}

/*
 * Calls are attributed by the file that their code names.  So code of a program must not claim a
 * file of the library.
 */
static void judge_claimed_file(PyObject *file)
{
	if (caller_is_trusted(file))
		deny(RULE_CALL_DENIED, file);
}

static void judge_code(PyObject *code)
{
	PyObject *file = caller_file_of_code(code);

	judge_claimed_file(file);
	Py_XDECREF(file);
}

/* ---- imports --------------------------------------------------------------------------------- */

/* Modules that C code imports for itself, while the program's frame is on top. */
static bool is_inner_module(PyObject *name)
{
	static const char *const inner[] = { "__future__", "_strptime", "encodings", "_codecs",
		"unicodedata", "stringprep", "_pydecimal", "_pydatetime", "_locale", "locale",
		"copyreg", "_collections_abc", "io", "warnings", "linecache", "tokenize",
		"traceback", "importlib._bootstrap_external" };
	const char *text = PyUnicode_AsUTF8AndSize(name, NULL);

	for (size_t i = 0; text && i < COUNT_OF(inner); i++) {
		size_t len = strlen(inner[i]);

		if (caller_begins(text, inner[i]) &&
			(text[len] == '\0' || text[len] == '.' || text[len] == '_'))
			return true;
	}
	return false;
}

/*
 * The library may import what its code names.  An import by a name that it was given is the
 * program's; and library code that does not name an importing function was handed one by the
 * program.
 */
static void judge_import_of_library(PyObject *name)
{
	if (caller_names(name))
		return;
	judge_path(RULE_IMPORT_DANGEROUS, name);
	if (!caller_says("__import__") && !caller_says("import_module") && !caller_belongs_to(name))
		judge_path(RULE_IMPORT_DENIED, name);
}

/*
 * The name as plain text, since a program's own string type may lie about itself.  Owned, or NULL.
 */
static PyObject *import_name(PyObject *name)
{
	PyObject *plain = name && PyUnicode_Check(name) ? PyUnicode_FromObject(name) : NULL;

	PyErr_Clear();
	if (!plain || !is_inner_module(plain))
		return plain;
	Py_DECREF(plain);
	return NULL;
}

/* A call of __import__() or import_module(), or an import statement. */
static void judge_import(PyObject *argument)
{
	enum caller caller = caller_now();
	PyObject *name = import_name(argument);

	if (name && caller == CALLER_LIBRARY) {
		judge_import_of_library(name);
	} else if (name && is_programs(caller)) {
		judge_path(RULE_IMPORT_DANGEROUS, name);
		judge_path(RULE_IMPORT_DENIED, name);
	}
	Py_XDECREF(name);
}

/* Whether the import system works for the program, which may have called a part of it directly. */
static bool imports_for_program(void)
{
	return audit.rules.on[RULE_IMPORT_DANGEROUS] && is_programs(caller_behind_import());
}

/* The import system finds compiled modules by their last name, so that is judged as well. */
static void judge_loading(PyObject *argument)
{
	PyObject *name = imports_for_program() ? import_name(argument) : NULL;
	PyObject *parts = name ? PyObject_CallMethod(name, "rpartition", "s", ".") : NULL;

	PyErr_Clear();
	if (parts) {
		judge_path(RULE_IMPORT_DANGEROUS, name);
		judge_path(RULE_IMPORT_DANGEROUS, PyTuple_GetItem(parts, 2));
	}
	Py_XDECREF(parts);
	Py_XDECREF(name);
}

/* The length of the longest folder of sys.path that this path lies below, with its slash. */
static size_t root_length(const char *path)
{
	size_t longest = 0;

	for (Py_ssize_t i = 0; i < PyTuple_Size(audit.roots); i++) {
		const char *folder = caller_utf8(PyTuple_GetItem(audit.roots, i));
		size_t len = folder ? strlen(folder) : 0;

		if (len > longest && caller_begins(path, folder) && path[len] == '/')
			longest = len;
	}
	return longest ? longest + 1 : 0;
}

/* a/b.py below a root, a/b/__init__.py and <frozen a.b> are the module a.b. */
static void module_of_file(const char *path, char name[PATH_BYTES])
{
	static const char *const ends[] = { ">", ".py", ".pyc", "/__init__" };
	size_t len;

	cut_printf(name, PATH_BYTES, "%s",
		path + (path[0] == '<' ? strlen("<frozen ") : root_length(path)));
	len = strlen(name);
	for (size_t i = 0; i < COUNT_OF(ends); i++)
		if (len > strlen(ends[i]) && strcmp(name + len - strlen(ends[i]), ends[i]) == 0)
			name[len -= strlen(ends[i])] = '\0';
	for (char *at = name; *at; at++)
		if (*at == '/')
			*at = '.';
}

/*
 * A module of the library is about to run.  Its file tells its name, which the program cannot
 * choose.
 */
static void judge_module_file(PyObject *file)
{
	const char *path = caller_utf8(file);
	char name[PATH_BYTES];
	PyObject *module;

	if (!path || !imports_for_program())
		return;
	module_of_file(path, name);
	module = PyUnicode_FromString(name);
	if (module)
		judge_path(RULE_IMPORT_DANGEROUS, module);
	PyErr_Clear();
	Py_XDECREF(module);
}

static void on_import(PyObject *args)
{
	enum caller caller = caller_now();

	if (caller == CALLER_IMPORT)
		judge_loading(argument(args, 0));
	else if (caller != CALLER_LIBRARY)
		judge_import(argument(args, 0));
}

/* ---- audit events ---------------------------------------------------------------------------- */

/* exec() and eval() of code, and every module that is imported. */
static void on_exec(PyObject *args)
{
	PyObject *code = argument(args, 0);
	enum caller caller = caller_now();
	PyObject *file;

	if (!is_code(code))
		return;
	file = caller_file_of_code(code);
	if (is_programs(caller))
		judge_claimed_file(file);
	else if (caller == CALLER_IMPORT && caller_is_trusted(file))
		judge_module_file(file);
	Py_XDECREF(file);
}

/* A text becomes code. */
static void on_compile(PyObject *args)
{
	PyObject *file = argument(args, 1);
	enum caller caller = caller_now();

	if (caller ==
		CALLER_PROGRAM) /* without a frame, the interpreter compiles lines of a traceback */
		judge_builtin("compile");
	if (caller != CALLER_IMPORT && file != Py_None)
		judge_claimed_file(file);
}

/* A code object is made by hand.  When the library copies one, it keeps the file's name. */
static void on_code(PyObject *args)
{
	PyObject *path = PyUnicode_FromString("types.CodeType");
	enum caller caller = caller_now();

	if (is_programs(caller) && path)
		judge_call(path);
	if (caller != CALLER_IMPORT)
		judge_claimed_file(argument(args, 1));
	Py_XDECREF(path);
}

static void on_function(PyObject *args)
{
	PyObject *code = argument(args, 0);

	if (is_programs(caller_now()) && is_code(code))
		judge_code(code);
}

/*
 * Tracebacks and warnings read the program's text, and the library reads its own files.  A call of
 * the builtin open() meets its guard first and does not get here.
 */
static bool is_harmless_read(PyObject *path, long flags)
{
	const char *text = caller_utf8(path);

	if (!text || (flags & O_ACCMODE) != O_RDONLY)
		return false;
	return strcmp(text, audit.main) == 0 || !caller_can_write(text);
}

/* The library makes a stream of stdin, which opens nothing.  The harness does it for each cell. */
static bool is_stdin(enum caller caller, PyObject *path, long flags)
{
	return caller == CALLER_LIBRARY && path && PyLong_CheckExact(path) &&
	       PyObject_Not(path) == 1 && (flags & O_ACCMODE) == O_RDONLY;
}

static void on_open(PyObject *args)
{
	PyObject *number = argument(args, 2);
	long flags = number && PyLong_Check(number) ? PyLong_AsLong(number) : O_RDWR;
	enum caller caller = caller_now();

	if (caller == CALLER_IMPORT || is_harmless_read(argument(args, 0), flags))
		return;
	if (is_stdin(caller, argument(args, 0), flags))
		return;
	if (caller == CALLER_NOBODY && (flags & O_ACCMODE) == O_RDONLY)
		return; /* the interpreter shows where an error was */
	judge_builtin("open");
}

/* Reading or setting an attribute that the interpreter audits, such as the code of a function. */
static void on_attribute(PyObject *args)
{
	PyObject *name = argument(args, 1);
	PyObject *value = argument(args, 2);
	enum caller caller = caller_now();

	if (is_code(value) && caller != CALLER_IMPORT)
		judge_code(value);
	if (!name || !PyUnicode_Check(name) || !is_programs(caller))
		return;
	judge_word(RULE_ATTRIBUTE_DENIED, name);
	if (rules_break_dunder(&audit.rules, name))
		deny(RULE_DUNDER_DENIED, name);
}

static void on_breakpoint(PyObject *args)
{
	(void)args;
	if (is_programs(caller_now()))
		judge_builtin("breakpoint");
}

static void on_harmless(PyObject *args)
{
	(void)args;
}

/* Every other event is a call of the function that it is named after: on_call(). */
static const struct {
	const char *event;
	void (*handle)(PyObject *args);
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
	{ "builtins.id", on_harmless },
	{ "builtins.input", on_harmless },
	{ "builtins.input/result", on_harmless },
	{ "array.__new__", on_harmless },
	{ "sys.excepthook", on_harmless },
	{ "sys.unraisablehook", on_harmless },
	{ "sys.addaudithook", on_harmless },
	{ "cpython.run_file", on_harmless },
};

/* These are judged as the program's even when the library makes the call. */
static bool reaches_system(const char *event)
{
	static const char *const heads[] = { "os.system", "os.exec", "os.fork", "os.spawn",
		"os.posix_spawn", "os.startfile", "os.kill", "subprocess.", "pty.", "socket.",
		"ctypes.", "ftplib.", "http.client.", "urllib.", "smtplib.", "poplib.", "imaplib.",
		"nntplib.", "telnetlib.", "webbrowser.", "mmap.", "signal." };

	for (size_t i = 0; i < COUNT_OF(heads); i++)
		if (caller_begins(event, heads[i]))
			return true;
	return false;
}

/* A call is also a use of its module, which the policy may not allow. */
static void judge_module_of(PyObject *path)
{
	PyObject *parts = PyObject_CallMethod(path, "partition", "s", ".");
	PyObject *module = parts ? PyTuple_GetItem(parts, 0) : NULL;

	PyErr_Clear();
	if (module && rules_break_path(&audit.rules, RULE_IMPORT_DENIED, module))
		deny(RULE_IMPORT_DENIED, path);
	Py_XDECREF(parts);
}

static void on_call(const char *event)
{
	enum caller caller = caller_now();
	PyObject *path;

	if (!is_programs(caller) && !(caller == CALLER_LIBRARY && reaches_system(event)))
		return;
	path = PyUnicode_FromString(event);
	if (!path)
		end_run(NULL, 0); /* the rules can no longer be checked */
	judge_call(path);
	judge_module_of(path);
	Py_DECREF(path);
}

static void handle_event(const char *event, PyObject *args)
{
	for (size_t i = 0; i < COUNT_OF(events); i++)
		if (strcmp(event, events[i].event) == 0) {
			events[i].handle(args);
			return;
		}
	if (strchr(event, '.'))
		on_call(event);
}

/* A Py_AuditHookFunction.  An exception that is set belongs to the interpreter and is kept. */
static int audit_hook(const char *event, PyObject *args, void *data)
{
	PyObject *kept[3];

	(void)data;
	PyErr_Fetch(&kept[0], &kept[1], &kept[2]);
	handle_event(event, args);
	PyErr_Restore(kept[0], kept[1], kept[2]);
	return 0;
}

/* ---- guards, for functions whose calls make no event ----------------------------------------- */

/* Kept in a capsule, since a program can read a function's __self__. */
struct guarded {
	const char *name;
	PyObject *function;
	PyMethodDef method;
};

static PyObject *call_guarded(PyObject *self, PyObject *args, PyObject *named)
{
	const struct guarded *guarded = PyCapsule_GetPointer(self, NULL);

	return PyObject_Call(guarded->function, args, named);
}

/* Library code that does not name one of these was handed it by the program: see caller.h. */
static bool is_handed_over(const char *name)
{
	static const char *const makers[] = { "eval", "exec", "compile" };

	for (size_t i = 0; i < COUNT_OF(makers); i++)
		if (strcmp(name, makers[i]) == 0)
			return !caller_says(name);
	return false;
}

static PyObject *guard_builtin(PyObject *self, PyObject *args, PyObject *named)
{
	const struct guarded *guarded = PyCapsule_GetPointer(self, NULL);

	if (is_programs(caller_now()) || is_handed_over(guarded->name))
		judge_builtin(guarded->name);
	return call_guarded(self, args, named);
}

/* An import of a module that is loaded already makes no event. */
static PyObject *guard_import(PyObject *self, PyObject *args, PyObject *named)
{
	PyObject *name = argument(args, 0);

	judge_import(name ? name : named ? PyDict_GetItemString(named, "name") : NULL);
	return call_guarded(self, args, named);
}

/* A module that is built into the interpreter is loaded without an event. */
static PyObject *guard_create_builtin(PyObject *self, PyObject *args, PyObject *named)
{
	PyObject *spec = argument(args, 0);
	PyObject *name = spec ? PyObject_GetAttrString(spec, "name") : NULL;

	PyErr_Clear();
	judge_loading(name);
	Py_XDECREF(name);
	return call_guarded(self, args, named);
}

/* Gives a code object the name of another file. */
static PyObject *guard_fix_filename(PyObject *self, PyObject *args, PyObject *named)
{
	if (caller_now() != CALLER_IMPORT)
		judge_claimed_file(argument(args, 1));
	return call_guarded(self, args, named);
}

/* Replaces `owner`'s function of that name by a guard before it.  Both are kept for good. */
static int guard(
	PyObject *owner, const char *name, PyObject *function, PyCFunctionWithKeywords check)
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
			{ name, (PyCFunction)(void (*)(void))check, METH_VARARGS | METH_KEYWORDS,
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

/*
 * All but classes, which the library compares and inherits from: only the text policy finds those.
 */
static bool can_guard(PyObject *builtin, PyObject *name)
{
	return PyCallable_Check(builtin) && !PyType_Check(builtin) &&
	       PyUnicode_CompareWithASCIIString(name, "__import__") != 0;
}

static int guard_builtins_of(enum rule rule)
{
	PyObject *builtins = PyImport_ImportModule("builtins");
	PyObject *known = builtins ? PyModule_GetDict(builtins) : NULL;
	PyObject *words = audit.rules.on[rule] ? audit.rules.words[rule] : NULL;
	PyObject *iterator = known && words ? PyObject_GetIter(words) : NULL;
	PyObject *name;
	int result = 0;

	while (iterator && result == 0 && (name = PyIter_Next(iterator))) {
		PyObject *builtin = PyDict_GetItem(known, name);

		if (builtin && can_guard(builtin, name))
			result = guard(builtins, PyUnicode_AsUTF8AndSize(name, NULL), builtin,
				guard_builtin);
		Py_DECREF(name);
	}
	Py_XDECREF(iterator);
	Py_XDECREF(builtins);
	return PyErr_Occurred() ? -1 : result;
}

static int guard_one(const char *owner, const char *name, PyCFunctionWithKeywords check)
{
	PyObject *module = PyImport_ImportModule(owner);
	PyObject *function = module ? PyObject_GetAttrString(module, name) : NULL;
	int result = function ? guard(module, name, function, check) : -1;

	Py_XDECREF(function);
	Py_XDECREF(module);
	return result;
}

static int guard_imports(void)
{
	if (!audit.rules.on[RULE_IMPORT_DENIED] && !audit.rules.on[RULE_IMPORT_DANGEROUS])
		return 0;
	if (guard_one("builtins", "__import__", guard_import) < 0 ||
		guard_one("importlib", "import_module", guard_import) < 0)
		return -1;
	return guard_one("_imp", "create_builtin", guard_create_builtin);
}

static int guard_all(void)
{
	static const enum rule rules[] = { RULE_NAME_DENIED, RULE_CALL_DENIED,
		RULE_BUILTIN_DENIED };

	if (guard_one("_imp", "_fix_co_filename", guard_fix_filename) < 0)
		return -1;
	for (size_t i = 0; i < COUNT_OF(rules); i++)
		if (guard_builtins_of(rules[i]) < 0)
			return -1;
	return guard_imports();
}

/* ---- starting -------------------------------------------------------------------------------- */

/* The limited API does not export it. */
static PyObject *find_code_type(void)
{
	PyObject *code = Py_CompileString("0", "<none>", Py_eval_input);
	PyObject *type = code ? PyObject_Type(code) : NULL;

	Py_XDECREF(code);
	return type;
}

int audit_init(void)
{
	PyObject *module = PyImport_ImportModule("_json");

	if (!PySys_AddAuditHook || !PyFrame_GetCode || !PyFrame_GetBack || !PyFrame_GetLineNumber ||
		!PyUnicode_AsUTF8AndSize) {
		PyErr_SetString(PyExc_SystemError, "this interpreter is too old");
		return -1;
	}
	audit.quote = module ? PyObject_GetAttrString(module, "encode_basestring_ascii") : NULL;
	audit.code_type = find_code_type();
	Py_XDECREF(module);
	return audit.quote && audit.code_type ? 0 : -1;
}

void audit_name(struct span name)
{
	cut_printf(
		audit.main, sizeof(audit.main), JAIL_WORK_DIR "/%.*s", (int)name.len, name.bytes);
}

int audit_start(struct span rules, struct span name)
{
	audit_name(name);
	audit.roots = PySequence_Tuple(PySys_GetObject("path"));
	if (!audit.roots || rules_read(&audit.rules, rules) < 0 || guard_all() < 0)
		return -1;
	return PySys_AddAuditHook(audit_hook, NULL);
}

void audit_begin(void)
{
	audit.begun = true;
}

void audit_rest(void)
{
	audit.begun = false;
}
