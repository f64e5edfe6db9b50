#include "sandbox/runtimes/node/orphans.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/cleanup.h"
#include "sandbox/runtimes/node/node_api.h"

#define HANDLERS_MAX 32
#define THREADS_MAX  256
#define HELD_MAX     64
#define REST_MS_MAX  5000
#define ZEROS_BYTES  256
#define STACK_BYTES  ((size_t)8 << 20)

#define EXPORTED __attribute__((visibility("default")))

static void (*handlers[HANDLERS_MAX])(void);
static unsigned handler_count;

#define WORDS_MAX 16 /* of the argument of a thread, as it was when the thread began */

/* A thread of the zygote. */
static struct thread {
	pthread_t thread;
	void *(*run)(void *);
	void *argument;
	bool serves_pool;        /* some words point to its maker's stack */
	bool stacked[WORDS_MAX]; /* which */
	pthread_t successor;     /* in a worker, of a thread of the pool */
	size_t word_count;
	uintptr_t words[WORDS_MAX];
	pthread_cond_t *condition; /* that it waits for now */
	atomic_bool waits;
} threads[THREADS_MAX];
static atomic_uint thread_count;
static _Thread_local struct thread *self; /* NULL: the first thread, or one of a worker */

static struct held {
	int fd;
	bool is_epoll; /* else in a worker an eventfd stands for it, which epoll takes as well */
} held[HELD_MAX];
static unsigned held_count;

static bool begun;   /* node has started */
static bool is_copy; /* this process is a worker */

/* ---- functions that node finds here first --------------------------------------------------- */

static int (*create_thread)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int (*join_thread)(pthread_t, void **);
static int (*destroy_condition)(pthread_cond_t *);
static int (*await_condition)(pthread_cond_t *, pthread_mutex_t *);
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
	*(void **)&await_condition = next("pthread_cond_wait");
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

/* The first thread's stack ends above the environment that the kernel put there. */
static bool is_on_first_stack(uintptr_t word)
{
	return word > (uintptr_t)__builtin_frame_address(0) && word < (uintptr_t)environ;
}

/*
 * Node's pool of threads is the one whose threads are started with pointers to the stack of their
 * maker, who waits until they run.
 */
static void note_argument(struct thread *thread)
{
	const uintptr_t *words = thread->argument;
	size_t bytes = thread->argument ? malloc_usable_size(thread->argument) : 0;

	thread->word_count =
		bytes / sizeof(*words) < WORDS_MAX ? bytes / sizeof(*words) : WORDS_MAX;
	for (size_t i = 0; i < thread->word_count; i++) {
		thread->words[i] = words[i];
		thread->stacked[i] = is_on_first_stack(words[i]);
		thread->serves_pool = thread->serves_pool || thread->stacked[i];
	}
}

static void *run_noted(void *argument)
{
	self = argument;
	return self->run(self->argument);
}

/*
 * A stack that stays where it is.  Stacks of the C library's own are given to new threads after a fork,
 * which then could not be told from those that are gone.
 */
static int start_on_own_stack(
	pthread_t *ret_thread, const pthread_attr_t *attr, struct thread *thread)
{
	size_t size = STACK_BYTES;
	pthread_attr_t own;
	void *stack;
	int result;

	if (attr)
		(void)pthread_attr_getstacksize(attr, &size);
	stack = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED)
		return EAGAIN;
	result = pthread_attr_init(&own);
	if (result != 0)
		return result;
	result = pthread_attr_setstack(&own, stack, size);
	if (result == 0)
		result = create_thread(ret_thread, &own, run_noted, thread);
	(void)pthread_attr_destroy(&own);
	return result;
}

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the C library's are not for readers */
EXPORTED int pthread_create(
	pthread_t *ret_thread, const pthread_attr_t *attr, void *(*run)(void *), void *argument)
{
	struct thread *thread;
	unsigned place;
	int result;

	if (is_copy)
		return create_thread(ret_thread, attr, run, argument);
	place = atomic_fetch_add(&thread_count, 1);
	if (place >= THREADS_MAX)
		abort();
	thread = &threads[place];
	thread->run = run;
	thread->argument = argument;
	if (!begun)
		note_argument(thread);
	result = start_on_own_stack(ret_thread, attr, thread);
	thread->thread = result == 0 ? *ret_thread : 0;
	return result;
}

EXPORTED int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	struct thread *thread = self;
	int result;

	if (thread) {
		thread->condition = condition;
		atomic_store(&thread->waits, true);
	}
	result = await_condition(condition, mutex);
	if (thread)
		atomic_store(&thread->waits, false);
	return result;
}

/* The thread of the zygote that this was, whose copy never lived; or NULL. */
static struct thread *gone(pthread_t thread)
{
	for (unsigned i = 0; is_copy && i < thread_count; i++)
		if (threads[i].thread && pthread_equal(threads[i].thread, thread))
			return &threads[i];
	return NULL;
}

EXPORTED int pthread_join(pthread_t thread, void **ret_value)
{
	const struct thread *known = gone(thread);

	if (!known)
		return join_thread(thread, ret_value);
	return known->serves_pool ? join_thread(known->successor, ret_value) : 0;
}

EXPORTED int pthread_cond_destroy(pthread_cond_t *condition)
{
	return is_copy ? 0 : destroy_condition(condition);
}

EXPORTED int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
	return is_copy ? 0 : destroy_mutex(mutex);
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

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
			return err_set(
				err, ERR_TOO_BIG, "node holds more than %d descriptors", HELD_MAX);
		held[held_count++] = (struct held){ number, is_epoll(own, entry->d_name) };
	}
	return 0;
}

/* ---- node's pool of threads ------------------------------------------------------------------ */

void orphans_begin(void)
{
	begun = true;
}

int orphans_rest(struct err *err)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (unsigned i = 0; i < thread_count; i++)
		for (unsigned tries = 0; threads[i].serves_pool && !threads[i].waits; tries++) {
			if (tries == REST_MS_MAX)
				return err_set(err, ERR_TIMEOUT, "node's threads do not rest");
			(void)nanosleep(&pause, NULL);
		}
	return 0;
}

/* Nobody waits for this condition here, though its copy says so. */
static int make_anew(pthread_cond_t *condition)
{
	pthread_condattr_t attr;
	int result;

	if (pthread_condattr_init(&attr) != 0)
		return -1;
	result = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	if (result == 0)
		result = pthread_cond_init(condition, &attr);
	(void)pthread_condattr_destroy(&attr);
	return result == 0 ? 0 : -1;
}

/*
 * The new thread gets the argument of the old one, as that was at its beginning.  What it had on its
 * maker's stack is zeros now: a mutex, a condition and a count of threads that are to begin.
 */
static int start_successor(struct thread *thread)
{
	uintptr_t *words = calloc(thread->word_count, sizeof(*words));

	if (!words)
		return -1;
	for (size_t i = 0; i < thread->word_count; i++) {
		words[i] =
			thread->stacked[i] ? (uintptr_t)calloc(1, ZEROS_BYTES) : thread->words[i];
		if (!words[i] && thread->stacked[i])
			return -1;
	}
	return create_thread(&thread->successor, NULL, thread->run, words) == 0 ? 0 : -1;
}

static int start_pool(void)
{
	for (unsigned i = 0; i < thread_count; i++)
		if (threads[i].serves_pool && make_anew(threads[i].condition) < 0)
			return -1;
	for (unsigned i = 0; i < thread_count; i++)
		if (threads[i].serves_pool && start_successor(&threads[i]) < 0)
			return -1;
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
	return start_pool();
}
