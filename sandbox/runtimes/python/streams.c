#include "sandbox/runtimes/python/streams.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "sandbox/runtimes/python/late_api.h"
#include "sandbox/runtimes/python/outlet.h"

#define SHORT_TEXT \
	4096 /* characters: a text keeps its UTF-8, and that of a long one takes memory */

struct stream {
	PyObject *text,
		*buffer; /* the streams of ours; io handles other objects of their classes */
	bool is_plain;   /* the encoding is UTF-8 without changes to line ends */
	bool is_open;
};

static struct stream streams[OUTLET_COUNT];

static struct {
	PyObject *text, *buffer; /* our classes */
	PyObject *text_write, *text_detach, *text_reconfigure;
	PyObject *buffer_write, *buffer_flush, *buffer_close,
		*buffer_detach; /* of the classes below */
} io;

static bool is_soon; /* the interpreter was asked to call drain */
static unsigned long soon_since_ms;
static pthread_t main_thread;

static bool is_of_text(PyObject *self, enum outlet *ret_which)
{
	*ret_which = self == streams[OUTLET_STDERR].text;
	return self == streams[*ret_which].text && streams[*ret_which].is_open;
}

static bool is_of_buffer(PyObject *self, enum outlet *ret_which)
{
	*ret_which = self == streams[OUTLET_STDERR].buffer;
	return self == streams[*ret_which].buffer && streams[*ret_which].is_open;
}

/* ---- draining -------------------------------------------------------------------------------- */

/* 1: call again.  -1 with an exception set. */
static int after(int error)
{
	if (error == EINTR)
		return PyErr_CheckSignals() < 0 ? -1 : 1;
	if (error == 0)
		return 0;
	errno = error;
	(void)PyErr_SetFromErrno(PyExc_OSError);
	return -1;
}

static int flush(enum outlet which)
{
	int result = outlet_is_empty(which) ? 0 : 1;

	while (result > 0) {
		PyThreadState *state = PyEval_SaveThread();
		int error = outlet_drain(which);

		PyEval_RestoreThread(state);
		result = after(error);
	}
	return result;
}

/*
 * Text that cannot be written is reported when it is flushed.  -1: a signal handler has raised an
 * exception.
 */
static int flush_all(void)
{
	for (enum outlet which = 0; which < OUTLET_COUNT; which++) {
		if (flush(which) == 0)
			continue;
		if (!PyErr_ExceptionMatches(PyExc_OSError))
			return -1;
		PyErr_Clear();
	}
	return 0;
}

/* The interpreter calls it between two instructions. */
static int on_pending(void *unused)
{
	int result;

	(void)unused;
	is_soon = false;
	result = flush_all();
	if (result < 0)
		(void)outlet_is_helped(); /* writes the rest of the buffer */
	return result;
}

/*
 * print() writes its text in pieces, and text of another thread must not come between them.  So a
 * piece waits: in the main thread until the interpreter is back from print(), by a pending call; in
 * others for the helper.  A C function that returns late must not delay what it prints.
 */
static bool can_wait(void)
{
	if (!pthread_equal(pthread_self(), main_thread))
		return outlet_is_helped();
	if (is_soon)
		return outlet_now_ms() - soon_since_ms <= OUTLET_QUIET_MS;
	is_soon = Py_AddPendingCall(on_pending, NULL) == 0;
	soon_since_ms = outlet_now_ms();
	return is_soon;
}

static int settle(enum outlet which, bool is_line)
{
	if (!outlet_is_due(which))
		return 0;
	if ((!is_line || is_soon) && can_wait())
		return 0;
	return flush(which);
}

static int put(enum outlet which, const char *bytes, size_t len)
{
	size_t done = 0;
	int result = outlet_put(which, bytes, len) ? 0 : 1;

	while (result > 0) {
		PyThreadState *state = PyEval_SaveThread();
		int error = outlet_put_patiently(which, bytes, len, &done);

		PyEval_RestoreThread(state);
		result = after(error);
	}
	if (result < 0)
		return -1;
	return settle(which, len > 0 && bytes[len - 1] == '\n');
}

/* ---- the text -------------------------------------------------------------------------------- */

/* NULL without an exception: io has to do it. */
static const char *utf8_of(const struct stream *stream, PyObject *text, Py_ssize_t *ret_len)
{
	const char *bytes;

	if (!stream->is_plain || !PyUnicode_Check(text) || PyUnicode_GetLength(text) > SHORT_TEXT)
		return NULL;
	bytes = PyUnicode_AsUTF8AndSize(text, ret_len);
	if (!bytes)
		PyErr_Clear(); /* a surrogate */
	return bytes;
}

static PyObject *text_write(PyObject *self, PyObject *text)
{
	enum outlet which;
	Py_ssize_t len = 0;
	const char *bytes = NULL;

	if (is_of_text(self, &which))
		bytes = utf8_of(&streams[which], text, &len);
	if (!bytes)
		return PyObject_CallFunctionObjArgs(io.text_write, self, text, NULL);
	if (put(which, bytes, (size_t)len) < 0)
		return NULL;
	return PyLong_FromSsize_t(PyUnicode_GetLength(text));
}

static PyObject *text_detach(PyObject *self, PyObject *unused)
{
	enum outlet which;

	(void)unused;
	if (is_of_text(self, &which))
		streams[which].is_plain = false;
	return PyObject_CallFunctionObjArgs(io.text_detach, self, NULL);
}

/* With another encoding io encodes the text; it must not keep it. */
static PyObject *text_reconfigure(PyObject *self, PyObject *args, PyObject *named)
{
	PyObject *with_self = Py_BuildValue("(O)", self);
	PyObject *through = Py_BuildValue("{s:O}", "write_through", Py_True);
	PyObject *result = NULL;
	enum outlet which;

	if (PyTuple_Size(args) > 0)
		PyErr_SetString(PyExc_TypeError, "reconfigure() takes no positional arguments");
	else if (with_self && through)
		result = PyObject_Call(io.text_reconfigure, with_self, named);
	if (result && is_of_text(self, &which)) {
		Py_DECREF(result);
		streams[which].is_plain = false;
		result = PyObject_Call(io.text_reconfigure, with_self, through);
	}
	Py_XDECREF(with_self);
	Py_XDECREF(through);
	return result;
}

/* NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): the interpreter keeps them */
static PyMethodDef text_methods[] = {
	{ "write", text_write, METH_O, NULL },
	{ "detach", text_detach, METH_NOARGS, NULL },
	{ "reconfigure", (PyCFunction)(void (*)(void))text_reconfigure,
		METH_VARARGS | METH_KEYWORDS, NULL },
	{ NULL, NULL, 0, NULL },
};

/* ---- the buffer ------------------------------------------------------------------------------ */

/* An object that is not bytes goes through io's own buffer, which is flushed at once. */
static PyObject *write_by_io(PyObject *self, enum outlet which, PyObject *data)
{
	PyObject *result;
	PyObject *flushed;

	if (flush(which) < 0 || flush_all() < 0)
		return NULL;
	result = PyObject_CallFunctionObjArgs(io.buffer_write, self, data, NULL);
	flushed = result ? PyObject_CallFunctionObjArgs(io.buffer_flush, self, NULL) : NULL;
	if (!flushed)
		Py_CLEAR(result);
	Py_XDECREF(flushed);
	return result;
}

static PyObject *buffer_write(PyObject *self, PyObject *data)
{
	enum outlet which;
	char *bytes = NULL;
	Py_ssize_t len = 0;

	if (!is_of_buffer(self, &which))
		return PyObject_CallFunctionObjArgs(io.buffer_write, self, data, NULL);
	if (!PyBytes_Check(data))
		return write_by_io(self, which, data);
	if (PyBytes_AsStringAndSize(data, &bytes, &len) < 0 || put(which, bytes, (size_t)len) < 0)
		return NULL;
	return PyLong_FromSsize_t(len);
}

static PyObject *buffer_flush(PyObject *self, PyObject *unused)
{
	enum outlet which;

	(void)unused;
	if (is_of_buffer(self, &which) && flush(which) < 0)
		return NULL;
	return PyObject_CallFunctionObjArgs(io.buffer_flush, self, NULL);
}

/* Both flush first.  Afterwards io reports errors of later writes. */
static PyObject *end(PyObject *self, PyObject *method)
{
	PyObject *result = PyObject_CallFunctionObjArgs(method, self, NULL);
	enum outlet which;

	if (is_of_buffer(self, &which))
		streams[which].is_open = false;
	return result;
}

static PyObject *buffer_close(PyObject *self, PyObject *unused)
{
	(void)unused;
	return end(self, io.buffer_close);
}

static PyObject *buffer_detach(PyObject *self, PyObject *unused)
{
	(void)unused;
	return end(self, io.buffer_detach);
}

static PyMethodDef buffer_methods[] = {
	{ "write", buffer_write, METH_O, NULL },
	{ "flush", buffer_flush, METH_NOARGS, NULL },
	{ "close", buffer_close, METH_NOARGS, NULL },
	{ "detach", buffer_detach, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};
/* NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables) */

/* ---- classes --------------------------------------------------------------------------------- */

static PyObject *derive(PyObject *base, const char *name, PyMethodDef *methods)
{
	PyType_Slot slots[] = { { Py_tp_methods, methods }, { 0, NULL } };
	PyType_Spec spec = {
		.name = name,
		.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
		.slots = slots,
	};
	PyObject *bases = PyTuple_Pack(1, base);
	PyObject *kind = bases ? PyType_FromSpecWithBases(&spec, bases) : NULL;

	Py_XDECREF(bases);
	return kind;
}

static int take_methods(PyObject *text, PyObject *buffer)
{
	io.text_write = PyObject_GetAttrString(text, "write");
	io.text_detach = PyObject_GetAttrString(text, "detach");
	io.text_reconfigure = PyObject_GetAttrString(text, "reconfigure");
	io.buffer_write = PyObject_GetAttrString(buffer, "write");
	io.buffer_flush = PyObject_GetAttrString(buffer, "flush");
	io.buffer_close = PyObject_GetAttrString(buffer, "close");
	io.buffer_detach = PyObject_GetAttrString(buffer, "detach");
	return PyErr_Occurred() ? -1 : 0;
}

/* A child goes on in the thread that forked it, and drops what its parent was about to do. */
static void in_child(void)
{
	main_thread = pthread_self();
	is_soon = false;
}

static int see_to_forks(void)
{
	errno = outlet_init();
	if (errno == 0)
		errno = pthread_atfork(NULL, NULL, in_child);
	if (errno == 0)
		return 0;
	(void)PyErr_SetFromErrno(PyExc_OSError);
	return -1;
}

int streams_init(void)
{
	PyObject *module = PyImport_ImportModule("_io");
	PyObject *text = module ? PyObject_GetAttrString(module, "TextIOWrapper") : NULL;
	PyObject *buffer = module ? PyObject_GetAttrString(module, "BufferedWriter") : NULL;
	int result = -1;

	if (text && buffer && take_methods(text, buffer) == 0) {
		io.text = derive(text, "_io.TextIOWrapper", text_methods);
		io.buffer = derive(buffer, "_io.BufferedWriter", buffer_methods);
		result = io.text && io.buffer ? 0 : -1;
	}
	Py_XDECREF(text);
	Py_XDECREF(buffer);
	Py_XDECREF(module);
	return result < 0 ? -1 : see_to_forks();
}

PyObject *streams_open(PyObject *args)
{
	int fd = -1;
	PyObject *raw = NULL;
	const char *encoding = NULL;
	const char *errors = NULL;
	struct stream *stream;

	if (!PyArg_ParseTuple(args, "iOss", &fd, &raw, &encoding, &errors))
		return NULL;
	stream = &streams[fd == 2 ? OUTLET_STDERR : OUTLET_STDOUT];
	stream->buffer = PyObject_CallFunctionObjArgs(io.buffer, raw, NULL);
	if (!stream->buffer)
		return NULL;
	stream->text = PyObject_CallFunction(io.text, "OsssOO", stream->buffer, encoding, errors,
		"\n", fd == 2 ? Py_True : Py_False, Py_True);
	if (!stream->text)
		return NULL;
	stream->is_plain = strcmp(encoding, "utf-8") == 0;
	stream->is_open = true;
	Py_INCREF(stream->text); /* no other object ever has its address */
	return stream->text;
}

/* ---- starting and ending --------------------------------------------------------------------- */

void streams_begin(void)
{
	main_thread = pthread_self();
	outlet_begin();
}

/* The program may have replaced them in sys. */
void streams_end(void)
{
	if (flush_all() < 0)
		PyErr_Clear();
}

void streams_rest(void)
{
	streams_end();
	outlet_dismiss_helper();
}
