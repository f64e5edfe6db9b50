#include "proto/base/container.h"
#include "sandbox/runtimes/python/audit_parts.h"
#include "sandbox/runtimes/python/late_api.h"

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

		if (audit_begins(text, inner[i]) &&
			(text[len] == '\0' || text[len] == '.' || text[len] == '_'))
			return true;
	}
	return false;
}

static void judge_dangerous(PyObject *name)
{
	if (rules_break_path(&audit.rules, RULE_IMPORT_DANGEROUS, name))
		audit_deny(RULE_IMPORT_DANGEROUS, name);
}

static void judge_denied(PyObject *name)
{
	if (rules_break_path(&audit.rules, RULE_IMPORT_DENIED, name))
		audit_deny(RULE_IMPORT_DENIED, name);
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
void audit_judge_import(PyObject *called)
{
	enum caller caller = caller_now();
	PyObject *name = import_of(called);

	if (name && caller == CALLER_LIBRARY) {
		judge_librarys_import(name);
	} else if (name && audit_is_programs(caller)) {
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
	return audit.rules.on[RULE_IMPORT_DANGEROUS] && audit_is_programs(caller_behind_import());
}

void audit_judge_driven(PyObject *called)
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

void audit_on_import(PyObject *args)
{
	enum caller caller = caller_now();

	if (caller == CALLER_IMPORT)
		audit_judge_driven(audit_arg(args, 0));
	else if (caller != CALLER_LIBRARY)
		audit_judge_import(audit_arg(args, 0));
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

		if (len > longest && audit_begins(path, folder) && path[len] == '/')
			longest = len;
	}
	PyErr_Clear();
	return longest ? longest + 1 : 0;
}

/* a/b.py below a root, and a/b/__init__.py, are a.b; and so is <frozen a.b>. */
static void name_module(const char *path, char name[AUDIT_PATH_BYTES])
{
	static const char *const ends[] = { ">", ".py", ".pyc", "/__init__" };
	size_t len;

	cut_printf(name, AUDIT_PATH_BYTES, "%s",
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
void audit_judge_module_file(PyObject *file)
{
	const char *path = file ? PyUnicode_AsUTF8AndSize(file, NULL) : NULL;
	char name[AUDIT_PATH_BYTES];
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
