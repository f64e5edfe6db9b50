#include "sandbox/runtimes/python/substitutes.h"

#include <Python.h>
#include <dlfcn.h>
#include <semaphore.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- semaphores ------------------------------------------------------------------------------ */

#define ARENA_BYTES ((size_t)4096)

/*
 * A page of semaphores, never freed.  The C library would use a page for each.  A child shares its
 * parent's page, and takes new semaphores from a page of its own.
 */
static struct {
	sem_t *next, *end;
	pid_t owner;
} arena;

static bool in_zygote = true;

static sem_t *arena_take(void)
{
	/* The zygote shares no memory with its workers. */
	int sharing = in_zygote ? MAP_PRIVATE : MAP_SHARED;
	void *page;

	if (arena.next == arena.end || arena.owner != getpid()) {
		page = mmap(
			NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
		if (page == MAP_FAILED)
			return NULL;
		arena.next = page;
		arena.end = arena.next + ARENA_BYTES / sizeof(sem_t);
		arena.owner = getpid();
	}
	return arena.next++;
}

void substitutes_wake(void)
{
	in_zygote = false;
}

/* The class makes a semaphore without a name from one that exists. */
static PyObject *semaphore_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
	static char words[][sizeof("maxvalue")] = { "kind", "value", "maxvalue", "name", "unlink" };
	char *names[] = { words[0], words[1], words[2], words[3], words[4], NULL };
	int kind = 0;
	int value = 0;
	int most = 0;
	const char *name = NULL;
	int unlink = 0;
	sem_t *semaphore;

	if (!PyArg_ParseTupleAndKeywords(
		    args, named, "iiisp", names, &kind, &value, &most, &name, &unlink))
		return NULL;
	semaphore = arena_take();
	if (!semaphore || sem_init(semaphore, 1, (unsigned)value) < 0)
		return PyErr_SetFromErrno(PyExc_OSError);
	return PyObject_CallMethod((PyObject *)type, "_rebuild", "Niiz",
		PyLong_FromVoidPtr(semaphore), kind, most, NULL);
}

static PyType_Slot semaphore_slots[] = {
	{ Py_tp_new, (void *)semaphore_new },
	{ 0, NULL },
};

static PyType_Spec semaphore_spec = {
	.name = "_multiprocessing.SemLock",
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
	.slots = semaphore_slots,
};

static int replace_semaphores(void)
{
	PyObject *module = PyImport_ImportModule("_multiprocessing");
	PyObject *base = module ? PyObject_GetAttrString(module, "SemLock") : NULL;
	PyObject *bases = base ? PyTuple_Pack(1, base) : NULL;
	PyObject *kind = bases ? PyType_FromSpecWithBases(&semaphore_spec, bases) : NULL;
	int result = kind ? PyObject_SetAttrString(module, "SemLock", kind) : -1;

	Py_XDECREF(kind);
	Py_XDECREF(bases);
	Py_XDECREF(base);
	Py_XDECREF(module);
	return result;
}

/* ---- SQLite ---------------------------------------------------------------------------------- */

#define SQLITE_LIBRARY "libsqlite3.so.0"
#define LOCK_BY_FOLDER "unix-dotfile"

/* The library stays loaded with this setting, and later users of the library find it. */
static void replace_locks(void)
{
	void *library = dlopen(SQLITE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	void *(*find)(const char *name) = NULL;
	int (*make_default)(void *vfs, int is_default) = NULL;

	if (!library)
		return;
	*(void **)&find = dlsym(library, "sqlite3_vfs_find");
	*(void **)&make_default = dlsym(library, "sqlite3_vfs_register");
	if (find && make_default && find(LOCK_BY_FOLDER))
		(void)make_default(find(LOCK_BY_FOLDER), 1);
}

/* Where there can be only one process, the library before the C library grants its locks. */
static bool grant_locks(void)
{
	void (*begin)(void) = NULL;

	*(void **)&begin = dlsym(RTLD_DEFAULT, "ced_locks_begin");
	if (begin)
		begin();
	return begin != NULL;
}

void substitutes_make(bool may_fork)
{
	if (replace_semaphores() < 0)
		PyErr_Clear();
	if (may_fork || !grant_locks())
		replace_locks();
}
