#define PY_SSIZE_T_CLEAN
#include "sandbox/runtimes/python/tools.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/internal/slotmsg.h"
#include "sandbox/worker/worker.h"

#define ROOM 4096 /* most answers fit, and come in one read */

/* The answer that is being read.  It stays if the reader is interrupted. */
static struct {
	char room[ROOM]; /* bytes that were read */
	size_t at, len;
	struct job_head head;
	size_t head_len;
	char *body; /* once the head is complete */
	size_t body_len;
} answer;

static pid_t worker;

PyObject *tools_begin(PyObject *self, PyObject *none)
{
	(void)self;
	(void)none;
	worker = getpid();
	Py_INCREF(Py_None);
	return Py_None;
}

static PyObject *gone(void)
{
	PyErr_SetString(PyExc_EOFError, "nobody is there to answer");
	return NULL;
}

/* ---- sending -------------------------------------------------------------------------------- */

/* 0, or -1 with errno. */
static int send_bytes(const char *bytes, size_t len)
{
	ssize_t sent = 0;

	for (size_t at = 0; at < len; at += (size_t)sent) {
		sent = send(WORKER_JOB_FD, bytes + at, len - at, MSG_NOSIGNAL);
		if (sent < 0 && errno != EINTR)
			return -1;
		if (sent < 0)
			sent = 0;
	}
	return 0;
}

PyObject *tools_send(PyObject *self, PyObject *args)
{
	struct job_head head = { .magic = SLOTMSG_MAGIC, .kind = JOB_CALL };
	const char *body = NULL;
	Py_ssize_t len = 0;
	int result;
	char *message;

	(void)self;
	if (!PyArg_ParseTuple(args, "iy#", &head.exit_code, &body, &len))
		return NULL;
	if (getpid() != worker)
		return gone();
	message = malloc(sizeof(head) + (size_t)len);
	if (!message)
		return PyErr_NoMemory();
	head.len = (uint32_t)len;
	memcpy(message, &head, sizeof(head));
	memcpy(message + sizeof(head), body, (size_t)len);
	/* A message is sent whole, whatever signals come: half of one would end all calls. */
	Py_BEGIN_ALLOW_THREADS;
	result = send_bytes(message, sizeof(head) + (size_t)len);
	Py_END_ALLOW_THREADS;
	free(message);
	if (result < 0)
		return gone();
	Py_INCREF(Py_None);
	return Py_None;
}

/* ---- receiving ------------------------------------------------------------------------------ */

enum progress {
	PROGRESS_MADE,
	PROGRESS_NONE, /* nothing has come yet, or a signal has */
	PROGRESS_END,
};

/* Reads once, without the interpreter's lock. */
static enum progress read_some(char *bytes, size_t size, bool wait, size_t *ret_got)
{
	ssize_t got;

	Py_BEGIN_ALLOW_THREADS;
	got = recv(WORKER_JOB_FD, bytes, size, wait ? 0 : MSG_DONTWAIT);
	Py_END_ALLOW_THREADS;
	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return PROGRESS_NONE;
	if (got <= 0)
		return PROGRESS_END;
	*ret_got = (size_t)got;
	return PROGRESS_MADE;
}

/* Moves bytes of the room to where they belong. */
static size_t take(void *to, size_t want)
{
	size_t left = answer.len - answer.at;
	size_t len = left < want ? left : want;

	memcpy(to, answer.room + answer.at, len);
	answer.at += len;
	return len;
}

/* Whether the answer is complete, after what is in the room.  -1: it is none. */
static int advance(void)
{
	if (answer.head_len < sizeof(answer.head))
		answer.head_len += take((char *)&answer.head + answer.head_len,
			sizeof(answer.head) - answer.head_len);
	if (answer.head_len < sizeof(answer.head))
		return 0;
	if (!answer.body) {
		if (answer.head.magic != SLOTMSG_MAGIC || answer.head.len > SLOTMSG_BODY_MAX)
			return -1;
		answer.body = malloc((size_t)answer.head.len + 1);
		if (!answer.body)
			return -1;
	}
	if (answer.body_len < answer.head.len)
		answer.body_len +=
			take(answer.body + answer.body_len, answer.head.len - answer.body_len);
	return answer.body_len == answer.head.len;
}

static enum progress read_more(bool wait)
{
	enum progress progress;
	size_t got = 0;

	/* Most of a long body goes straight to its place. */
	if (answer.body && answer.head.len - answer.body_len > ROOM) {
		progress = read_some(answer.body + answer.body_len,
			answer.head.len - answer.body_len, wait, &got);
		answer.body_len += got;
		return progress;
	}
	progress = read_some(answer.room, ROOM, wait, &got);
	answer.at = 0;
	answer.len = got;
	return progress;
}

static PyObject *take_answer(void)
{
	PyObject *tuple = Py_BuildValue("(iNN)", (int)answer.head.exit_code,
		PyBool_FromLong(answer.head.kind == JOB_RETURN),
		PyBytes_FromStringAndSize(answer.body, (Py_ssize_t)answer.body_len));

	free(answer.body);
	answer.body = NULL;
	answer.body_len = answer.head_len = 0;
	return tuple;
}

PyObject *tools_receive(PyObject *self, PyObject *wait)
{
	long patience = PyLong_AsLong(wait);
	bool waits = patience == TOOLS_WAIT;
	int complete;

	(void)self;
	if (getpid() != worker)
		return gone();
	while ((complete = advance()) == 0) {
		enum progress progress =
			patience == TOOLS_BUFFERED ? PROGRESS_NONE : read_more(waits);

		if (progress == PROGRESS_END)
			return gone();
		if (PyErr_CheckSignals() < 0)
			return NULL;
		if (progress == PROGRESS_NONE && !waits)
			Py_RETURN_NONE;
	}
	return complete < 0 ? gone() : take_answer();
}
