#include "sandbox/runtimes/node/orphans.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "sandbox/runtimes/node/node_api.h"

#define HANDLERS_MAX 32
#define THREADS_MAX  256
#define HELD_MAX     64

#define EXPORTED __attribute__((visibility("default")))

static void (*handlers[HANDLERS_MAX])(void);
static unsigned handler_count;

static pthread_t threads[THREADS_MAX]; /* of the zygote */
static atomic_uint thread_count;

static struct held {
	int fd;
	bool is_epoll; /* else in a worker an eventfd stands for it, which epoll takes as well */
} held[HELD_MAX];
static unsigned held_count;

static bool is_copy; /* this process is a worker */

/* ---- functions that node finds here first --------------------------------------------------- */

static int (*create_thread)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int (*join_thread)(pthread_t, void **);
static int (*destroy_condition)(pthread_cond_t *);
static int (*destroy_mutex)(pthread_mutex_t *);

/* The C library's own function of this name. */
static void *next(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		abort();
	return found;
}

__attribute__((constructor)) static void find_functions(void)
{
	*(void **)&create_thread = next("pthread_create");
	*(void **)&join_thread = next("pthread_join");
	*(void **)&destroy_condition = next("pthread_cond_destroy");
	*(void **)&destroy_mutex = next("pthread_mutex_destroy");
}

/* NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): the C library's names */
EXPORTED int __register_atfork(
	void (*prepare)(void), void (*parent)(void), void (*child)(void), void *object);

EXPORTED int __register_atfork(
	void (*prepare)(void), void (*parent)(void), void (*child)(void), void *object)
{
	(void)prepare;
	(void)parent;
	(void)object;
	if (child && handler_count == HANDLERS_MAX)
		return ENOMEM;
	if (child)
		handlers[handler_count++] = child;
	return 0;
}
/* NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier) */

EXPORTED int pthread_create(
	pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *argument)
{
	int result = create_thread(thread, attr, run, argument);

	if (result == 0 && !is_copy) {
		unsigned place = atomic_fetch_add(&thread_count, 1);

		if (place >= THREADS_MAX)
			abort();
		threads[place] = *thread;
	}
	return result;
}

/* Whether it was a thread of the zygote, whose copy never lived. */
static bool is_gone(pthread_t thread)
{
	bool was = false;

	for (unsigned i = 0; is_copy && i < thread_count && !was; i++)
		was = pthread_equal(threads[i], thread) != 0;
	return was;
}

EXPORTED int pthread_join(pthread_t thread, void **ret_value)
{
	return is_gone(thread) ? 0 : join_thread(thread, ret_value);
}

EXPORTED int pthread_cond_destroy(pthread_cond_t *condition)
{
	return is_copy ? 0 : destroy_condition(condition);
}

EXPORTED int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
	return is_copy ? 0 : destroy_mutex(mutex);
}

/* ---- descriptors ----------------------------------------------------------------------------- */

static void close_folder(DIR **folder)
{
	if (*folder)
		(void)closedir(*folder);
}

static bool is_epoll(int folder, const char *number)
{
	char link[64];
	ssize_t len = readlinkat(folder, number, link, sizeof(link) - 1);

	link[len < 0 ? 0 : len] = '\0';
	return strcmp(link, "anon_inode:[eventpoll]") == 0;
}

static int put_in_place(const struct held *place)
{
	int fd = place->is_epoll ? epoll_create1(EPOLL_CLOEXEC)
				 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fd < 0 || fd == place->fd)
		return fd;
	if (dup3(fd, place->fd, O_CLOEXEC) < 0) {
		close(fd);
		return -1;
	}
	close(fd);
	return 0;
}

int orphans_look(int proc, int last_own, struct err *err)
{
	auto_fd int fd = openat(proc, "self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	__attribute__((cleanup(close_folder))) DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int own = fd;

	if (!folder)
		return err_sys(err, "list of descriptors");
	fd = -1; /* it is the folder's */
	held_count = 0;
	while ((entry = readdir(folder))) {
		int number = (int)strtol(entry->d_name, NULL, 10);

		if (number <= last_own || number == own)
			continue;
		if (held_count == HELD_MAX)
			return err_set(err, ERR_TOO_BIG, "node holds more than %d descriptors",
				HELD_MAX);
		held[held_count++] = (struct held){ number, is_epoll(own, entry->d_name) };
	}
	return 0;
}

int orphans_adopt(struct uv_loop_s *loop)
{
	is_copy = true;
	for (unsigned i = 0; i < held_count; i++)
		if (put_in_place(&held[i]) < 0)
			return -1;
	for (unsigned i = 0; i < handler_count; i++)
		handlers[i]();
	if (uv_loop_fork(loop) != 0)
		return -1;
	uv_update_time(loop);
	return 0;
}
