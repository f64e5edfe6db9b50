#include "sandbox/runtimes/python/caller.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/container.h"
#include "proto/jail_dirs.h"
#include "sandbox/runtimes/python/late_api.h"

#define DEPTH_MAX  64
#define PART_BYTES 128

bool caller_begins(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

const char *caller_utf8(PyObject *text)
{
	const char *bytes =
		text && PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;

	PyErr_Clear();
	return bytes;
}

/* ---- files ------------------------------------------------------------------------------------ */

/* No file of the runtime lies there. */
bool caller_can_write(const char *path)
{
	return path[0] != '/' || caller_begins(path, JAIL_WORK_DIR "/") ||
	       caller_begins(path, JAIL_TMP_DIR "/") || caller_begins(path, "/dev/") ||
	       strstr(path, "/../");
}

bool caller_is_trusted(PyObject *file)
{
	const char *text = caller_utf8(file);

	return text && (caller_begins(text, "<frozen ") || !caller_can_write(text));
}

PyObject *caller_file_of_code(PyObject *code)
{
	PyObject *name = code ? PyObject_GetAttrString(code, "co_filename") : NULL;

	PyErr_Clear();
	return name;
}

PyObject *caller_file_of(PyFrameObject *frame)
{
	PyObject *code = frame ? (PyObject *)PyFrame_GetCode(frame) : NULL;
	PyObject *name = caller_file_of_code(code);

	Py_XDECREF(code);
	return name;
}

enum caller caller_of_file(PyObject *file)
{
	if (!caller_is_trusted(file))
		return CALLER_PROGRAM;
	return caller_begins(caller_utf8(file), "<frozen importlib") ? CALLER_IMPORT
								     : CALLER_LIBRARY;
}

/* ---- frames ----------------------------------------------------------------------------------- */

/* Takes `frame` and returns its caller's frame; owned, or NULL. */
static PyFrameObject *below(PyFrameObject *frame)
{
	PyFrameObject *back = PyFrame_GetBack(frame);

	Py_DECREF((PyObject *)frame);
	return back;
}

static enum caller kind_of(PyFrameObject *frame)
{
	PyObject *file = caller_file_of(frame);
	enum caller kind = caller_of_file(file);

	Py_XDECREF(file);
	return kind;
}

/* The part of the import system that calls whatever it is given. */
static bool is_carrier(PyFrameObject *frame)
{
	PyObject *code = (PyObject *)PyFrame_GetCode(frame);
	PyObject *name = code ? PyObject_GetAttrString(code, "co_name") : NULL;
	bool is = name && PyUnicode_CompareWithASCIIString(name, "_call_with_frames_removed") == 0;

	PyErr_Clear();
	Py_XDECREF(name);
	Py_XDECREF(code);
	return is && kind_of(frame) == CALLER_IMPORT;
}

/* The running frame; owned, or NULL. */
static PyFrameObject *top(void)
{
	PyFrameObject *frame = PyEval_GetFrame();

	Py_XINCREF((PyObject *)frame);
	while (frame && is_carrier(frame))
		frame = below(frame);
	return frame;
}

enum caller caller_now(void)
{
	PyFrameObject *frame = top();
	enum caller caller = frame ? kind_of(frame) : CALLER_NOBODY;
	enum caller kind = caller;

	for (int depth = 0; frame && depth < DEPTH_MAX; depth++) {
		kind = kind_of(frame);
		if (kind == CALLER_IMPORT)
			caller = CALLER_IMPORT;
		if (kind == CALLER_IMPORT || kind == CALLER_PROGRAM)
			break;
		frame = below(frame);
	}
	Py_XDECREF((PyObject *)frame);
	return caller;
}

enum caller caller_behind_import(void)
{
	PyFrameObject *frame = top();
	enum caller kind = CALLER_NOBODY;

	while (frame && (kind = kind_of(frame)) == CALLER_IMPORT)
		frame = below(frame);
	if (!frame)
		return CALLER_NOBODY;
	Py_DECREF((PyObject *)frame);
	return kind;
}

/*
 * ---- names in the running code ----------------------------------------------------------------
 */

bool caller_names(PyObject *word)
{
	static const char *const places[] = { "co_names", "co_varnames", "co_freevars" };
	PyFrameObject *frame = top();
	PyObject *code = frame ? (PyObject *)PyFrame_GetCode(frame) : NULL;
	bool found = false;

	for (size_t i = 0; code && !found && i < COUNT_OF(places); i++) {
		PyObject *names = PyObject_GetAttrString(code, places[i]);

		found = names && PySequence_Contains(names, word) > 0;
		Py_XDECREF(names);
	}
	PyErr_Clear();
	Py_XDECREF(code);
	Py_XDECREF((PyObject *)frame);
	return found;
}

bool caller_says(const char *word)
{
	PyObject *text = PyUnicode_FromString(word);
	bool found = text && caller_names(text);

	PyErr_Clear();
	Py_XDECREF(text);
	return found;
}

bool caller_belongs_to(PyObject *module)
{
	PyFrameObject *frame = top();
	PyObject *file = caller_file_of(frame);
	const char *path = caller_utf8(file);
	const char *name = caller_utf8(module);
	const int len = name ? (int)strcspn(name, ".") : 0;
	char folder[PART_BYTES];
	char alone[PART_BYTES];
	bool is;

	(void)snprintf(folder, sizeof(folder), "/%.*s/", len, name ? name : "");
	(void)snprintf(alone, sizeof(alone), "/%.*s.py", len, name ? name : "");
	is = path && len > 0 && (strstr(path, folder) || strstr(path, alone));
	Py_XDECREF(file);
	Py_XDECREF((PyObject *)frame);
	return is;
}
