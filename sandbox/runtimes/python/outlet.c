#include "sandbox/runtimes/python/outlet.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HELPER_STACK_BYTES ((size_t)128 << 10)
#define FORK_TRIES         20 /* milliseconds that a fork waits for the lock */

struct buffer {
	_Atomic size_t len; /* changed under the lock, read without it */
	char bytes[OUTLET_BYTES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct buffer buffers[OUTLET_COUNT];
static const int fds[OUTLET_COUNT] = { STDOUT_FILENO, STDERR_FILENO };

static bool begun;

/*
 * Changed under the lock.  If a thread reads these after it has put a text, the helper will see
 * that text.
 */
static _Atomic bool is_helped;   /* there is a helper, and it will look at the buffers again */
static _Atomic bool is_flooding; /* also since its last look */

static pthread_t helper; /* the last one; it is joined if it is dismissed, else it is detached */
static _Atomic int is_dismissed; /* a futex, on which it waits */

/* Counted by callers, who hold the interpreter's lock. */
static unsigned long last_text_ms;
static unsigned texts_in_a_row;

/*
 * The kernel's own clock, in deterministic runs too.  There the C library's clock is the program's
 * (../steady), and reading it would change what the program reads.
 */
static bool is_steady;

unsigned long outlet_now_ms(void)
{
	struct timespec now = { 0 };

	if (is_steady)
		(void)syscall(SYS_clock_gettime, CLOCK_MONOTONIC_COARSE, &now);
	else
		(void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (unsigned long)now.tv_sec * 1000 + (unsigned long)now.tv_nsec / 1000000;
}

static size_t len_of(enum outlet which)
{
	return atomic_load_explicit(&buffers[which].len, memory_order_relaxed);
}

static void set_len(enum outlet which, size_t len)
{
	atomic_store_explicit(&buffers[which].len, len, memory_order_relaxed);
}

static enum outlet other_of(enum outlet which)
{
	return which == OUTLET_STDOUT ? OUTLET_STDERR : OUTLET_STDOUT;
}

/* ---- under the lock -------------------------------------------------------------------------- */

static int write_some(int fd, const char *bytes, size_t len, size_t *ret_written)
{
	ssize_t written = write(fd, bytes, len);

	if (written < 0)
		return errno;
	*ret_written = (size_t)written;
	return 0;
}

static int drain(enum outlet which)
{
	struct buffer *buffer = &buffers[which];
	size_t len = len_of(which);
	size_t written = 0;

	while (len > 0) {
		int error = write_some(fds[which], buffer->bytes, len, &written);

		if (error)
			return error;
		len -= written;
		memmove(buffer->bytes, buffer->bytes + written, len);
		set_len(which, len);
	}
	return 0;
}

static bool has_room(enum outlet which, size_t len)
{
	return len <= OUTLET_BYTES - len_of(which);
}

static void keep(enum outlet which, const char *bytes, size_t len)
{
	memcpy(buffers[which].bytes + len_of(which), bytes, len);
	set_len(which, len_of(which) + len);
}

/* If the other buffer cannot be written, this one need not wait. */
static int put(enum outlet which, const char *bytes, size_t len, size_t *done)
{
	int error = drain(other_of(which)) == EINTR ? EINTR : 0;

	if (!error && !has_room(which, len - *done))
		error = drain(which);
	while (!error && len - *done > OUTLET_BYTES) {
		size_t written = 0;

		error = write_some(fds[which], bytes + *done, len - *done, &written);
		*done += written;
	}
	if (error)
		return error;
	keep(which, bytes + *done, len - *done);
	*done = len;
	return 0;
}

/* ---- texts ----------------------------------------------------------------------------------- */

bool outlet_put(enum outlet which, const char *bytes, size_t len)
{
	bool kept;

	if (pthread_mutex_trylock(&lock) != 0)
		return false;
	kept = has_room(which, len) && len_of(other_of(which)) == 0;
	if (kept)
		keep(which, bytes, len);
	(void)pthread_mutex_unlock(&lock);
	return kept;
}

int outlet_put_patiently(enum outlet which, const char *bytes, size_t len, size_t *done)
{
	int error;

	(void)pthread_mutex_lock(&lock);
	error = put(which, bytes, len, done);
	(void)pthread_mutex_unlock(&lock);
	return error;
}

bool outlet_is_empty(enum outlet which)
{
	return len_of(which) == 0;
}

int outlet_drain(enum outlet which)
{
	int error;

	(void)pthread_mutex_lock(&lock);
	error = drain(which);
	(void)pthread_mutex_unlock(&lock);
	return error;
}

/* ---- the helper ------------------------------------------------------------------------------ */

/* Text that cannot be written stays in the buffer; the program gets the error when it flushes. */
static bool look(void)
{
	bool found = false;

	for (enum outlet which = 0; which < OUTLET_COUNT; which++)
		if (len_of(which) > 0 && drain(which) == 0)
			found = true;
	return found;
}

static void *help(void *unused)
{
	const struct timespec tick = { .tv_nsec = OUTLET_TICK_MS * 1000000L };

	for (unsigned idle = 0; idle < OUTLET_IDLE && !is_dismissed;) {
		(void)syscall(SYS_futex, &is_dismissed, FUTEX_WAIT_PRIVATE, 0, &tick);
		(void)pthread_mutex_lock(&lock);
		idle = look() ? 0 : idle + 1;
		is_flooding = is_flooding && idle == 0;
		is_helped = idle < OUTLET_IDLE && !is_dismissed;
		if (!is_helped && !is_dismissed)
			(void)pthread_detach(pthread_self());
		(void)pthread_mutex_unlock(&lock);
	}
	return unused;
}

/* Nothing starts another one meanwhile: the caller holds the interpreter's lock. */
void outlet_dismiss_helper(void)
{
	bool joins;

	(void)pthread_mutex_lock(&lock);
	joins = is_helped;
	is_dismissed = joins;
	(void)pthread_mutex_unlock(&lock);
	if (!joins)
		return;
	(void)syscall(SYS_futex, &is_dismissed, FUTEX_WAKE_PRIVATE, 1);
	(void)pthread_join(helper, NULL);
	is_helped = false;
	is_flooding = false;
	is_dismissed = 0;
}

/* Signals go to the program's own threads. */
static bool start_helper(void)
{
	pthread_attr_t attributes;
	sigset_t all;
	sigset_t kept;
	int error;

	if (pthread_attr_init(&attributes) != 0)
		return false;
	(void)pthread_attr_setstacksize(&attributes, HELPER_STACK_BYTES);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &kept);
	error = pthread_create(&helper, &attributes, help, NULL);
	(void)pthread_sigmask(SIG_SETMASK, &kept, NULL);
	(void)pthread_attr_destroy(&attributes);
	return error == 0;
}

bool outlet_is_helped(void)
{
	if (is_helped)
		return true;
	if (!begun || pthread_mutex_trylock(&lock) != 0)
		return false;
	is_helped = is_helped || start_helper();
	(void)pthread_mutex_unlock(&lock);
	return is_helped;
}

/* ---- is it a flood? -------------------------------------------------------------------------- */

/* During a flood only the helper reads the clock. */
static bool is_flood(void)
{
	unsigned long now;

	if (atomic_load_explicit(&is_flooding, memory_order_relaxed))
		return true;
	now = outlet_now_ms();
	if (now - last_text_ms > OUTLET_QUIET_MS || texts_in_a_row >= OUTLET_BURST)
		texts_in_a_row = 0;
	last_text_ms = now;
	if (++texts_in_a_row == OUTLET_BURST)
		is_flooding = outlet_is_helped();
	return is_flooding;
}

bool outlet_is_due(enum outlet which)
{
	return begun && !is_flood() && !outlet_is_empty(which);
}

/* ---- starting, and forks of the program ------------------------------------------------------ */

/* Writes what fits without waiting: if poll() says that there is room, the pipe has a free page. */
static void drain_at_once(enum outlet which)
{
	struct pollfd pipe = { .fd = fds[which], .events = POLLOUT };
	struct buffer *buffer = &buffers[which];
	size_t len = len_of(which);

	while (len > 0 && poll(&pipe, 1, 0) == 1 && (pipe.revents & POLLOUT)) {
		size_t written = 0;

		if (write_some(fds[which], buffer->bytes, len < PIPE_BUF ? len : PIPE_BUF,
			    &written) != 0)
			return;
		len -= written;
		memmove(buffer->bytes, buffer->bytes + written, len);
		set_len(which, len);
	}
}

/*
 * A thread that forks holds the interpreter's lock.  It must not wait for a thread that writes into
 * a full pipe, which another thread of the program may have to read.  So text that cannot be
 * written stays with the parent, and a lock that is held is made anew in the child.
 */
static bool fork_has_lock;

static void before_fork(void)
{
	const struct timespec moment = { .tv_nsec = 1000000 };

	fork_has_lock = false;
	for (unsigned tries = 0; begun && !fork_has_lock && tries < FORK_TRIES; tries++) {
		fork_has_lock = pthread_mutex_trylock(&lock) == 0;
		if (!fork_has_lock)
			(void)syscall(SYS_nanosleep, &moment, NULL);
	}
	for (enum outlet which = 0; fork_has_lock && which < OUTLET_COUNT; which++)
		drain_at_once(which);
}

static void after_fork(void)
{
	if (fork_has_lock)
		(void)pthread_mutex_unlock(&lock);
}

/* The child has no helper, and none of the text that its parent still has. */
static void after_fork_in_child(void)
{
	static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;

	if (!begun)
		return;
	if (!fork_has_lock)
		memcpy(&lock, &unlocked, sizeof(lock));
	is_helped = false;
	is_flooding = false;
	for (enum outlet which = 0; which < OUTLET_COUNT; which++)
		set_len(which, 0);
	after_fork();
}

int outlet_init(void)
{
	is_steady = dlsym(RTLD_DEFAULT, "ced_steady_begin") != NULL;
	return pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

void outlet_begin(void)
{
	begun = true;
}
