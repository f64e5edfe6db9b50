/*
 * The clock and the random bytes of a deterministic run: a library that is loaded before the C
 * library, so that a program reads the same time and the same random bytes in each run.
 *
 * Time begins at START_S. Each reading adds STEP_NS, and a sleep or a wait that timed out adds its
 * length.  Processor time is not counted.  Sleeps and waits really take their time: only what a
 * program reads is changed, never what the kernel does.
 *
 * Not covered: system calls that a program makes itself, times of files, rdtsc, and the order in
 * which threads read the clock.
 *
 * Programs are started with it (LD_PRELOAD).  In a zygote, which needs the true time, it does
 * nothing until ced_steady_begin() is called in a worker; elsewhere it begins with the program.
 */
#undef _FORTIFY_SOURCE /* its headers define inline functions of the same names */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/jail_env.h"

#define OURS __attribute__((visibility("default")))

#define SECOND_NS     ((int64_t)1000000000)
#define START_S       ((int64_t)946684800) /* 2000-01-01T00:00:00Z */
#define UPTIME_S      ((int64_t)1)         /* the start of clocks without a date: never 0 */
#define STEP_NS       1000
#define SIGNALS_BYTES ((size_t)8) /* a set of signals, as the kernel defines it */
#define SEED          UINT64_C(0x9e3779b97f4a7c15)

static bool running;
static _Atomic int64_t passed_ns;
static _Atomic uint64_t drawn; /* random bytes drawn so far, in groups of eight */

OURS void ced_steady_begin(void);

void ced_steady_begin(void)
{
	atomic_store(&passed_ns, 0);
	atomic_store(&drawn, 0);
	running = true;
}

__attribute__((constructor)) static void begin_with_program(void)
{
	running = !getenv(JAIL_ENV_SOCKET);
}

/* ---- the clock ------------------------------------------------------------------------------- */

static bool is_of_day(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

static bool is_of_work(clockid_t clock)
{
	return clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
}

static int64_t start_of(clockid_t clock)
{
	if (is_of_work(clock))
		return 0;
	return (is_of_day(clock) ? START_S : UPTIME_S) * SECOND_NS;
}

static int64_t ns_of(const struct timespec *spec)
{
	return spec->tv_sec * SECOND_NS + spec->tv_nsec;
}

static int64_t true_time(clockid_t clock)
{
	struct timespec now = { 0 };

	(void)syscall(SYS_clock_gettime, clock, &now);
	return ns_of(&now);
}

static int64_t look(clockid_t clock)
{
	if (!running)
		return true_time(clock);
	return start_of(clock) + atomic_fetch_add(&passed_ns, STEP_NS) + STEP_NS;
}

/* The time until `when`; does not count as a reading. */
static int64_t left_until(clockid_t clock, const struct timespec *when)
{
	int64_t now = running ? start_of(clock) + atomic_load(&passed_ns) : true_time(clock);

	return ns_of(when) - now;
}

static void pass(int64_t ns)
{
	if (running && ns > 0)
		(void)atomic_fetch_add(&passed_ns, ns);
}

static struct timespec spec_of(int64_t ns)
{
	return (struct timespec){ .tv_sec = ns / SECOND_NS, .tv_nsec = ns % SECOND_NS };
}

OURS int clock_gettime(clockid_t clock, struct timespec *ret_spec)
{
	if (clock < 0) /* the clock of another thread or process */
		return (int)syscall(SYS_clock_gettime, clock, ret_spec);
	*ret_spec = spec_of(look(clock));
	return 0;
}

OURS int gettimeofday(struct timeval *restrict ret_time, void *restrict zone)
{
	int64_t ns = look(CLOCK_REALTIME);

	(void)zone;
	*ret_time = (struct timeval){ ns / SECOND_NS, ns % SECOND_NS / 1000 };
	return 0;
}

OURS time_t time(time_t *ret_time)
{
	time_t seconds = look(CLOCK_REALTIME) / SECOND_NS;

	if (ret_time)
		*ret_time = seconds;
	return seconds;
}

OURS int timespec_get(struct timespec *ret_spec, int base)
{
	*ret_spec = spec_of(look(CLOCK_REALTIME));
	return base;
}

OURS clock_t clock(void)
{
	return (clock_t)(look(CLOCK_PROCESS_CPUTIME_ID) / (SECOND_NS / CLOCKS_PER_SEC));
}

OURS clock_t times(struct tms *ret_times)
{
	clock_t ticks = look(CLOCK_MONOTONIC) / (SECOND_NS / 100);

	if (ret_times)
		*ret_times = (struct tms){ .tms_utime = ticks };
	return ticks;
}

/*
 * ---- sleeping: it takes real time, and then the clock is advanced ------------------------------
 */

static int sleep_ns(int64_t ns, struct timespec *ret_left)
{
	struct timespec real = spec_of(ns > 0 ? ns : 0);

	if (syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &real, ret_left) < 0)
		return errno;
	pass(ns);
	return 0;
}

OURS int clock_nanosleep(
	clockid_t clock, int flags, const struct timespec *when, struct timespec *ret_left)
{
	int64_t ns = ns_of(when);

	if (when->tv_nsec < 0 || when->tv_nsec >= SECOND_NS)
		return EINVAL;
	if (flags & TIMER_ABSTIME)
		return sleep_ns(left_until(clock, when), NULL);
	return sleep_ns(ns, ret_left);
}

OURS int nanosleep(const struct timespec *asked, struct timespec *ret_left)
{
	int error = clock_nanosleep(CLOCK_MONOTONIC, 0, asked, ret_left);

	if (!error)
		return 0;
	errno = error;
	return -1;
}

OURS int usleep(useconds_t us)
{
	struct timespec asked = spec_of((int64_t)us * 1000);

	return nanosleep(&asked, NULL);
}

OURS unsigned sleep(unsigned seconds)
{
	struct timespec asked = { .tv_sec = seconds };
	struct timespec left = { 0 };

	return nanosleep(&asked, &left) < 0 ? (unsigned)left.tv_sec : 0;
}

/* ---- waiting for descriptors ------------------------------------------------------------------ */

/* A wait that timed out took as long as was asked for; any other took no time. */
static int waited(long result, int64_t ns)
{
	if (result == 0)
		pass(ns);
	return (int)result;
}

OURS int poll(struct pollfd *fds, nfds_t count, int ms)
{
	return waited(syscall(SYS_poll, fds, count, ms), (int64_t)ms * 1000000);
}

OURS int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *asked, const sigset_t *mask)
{
	struct timespec real = asked ? *asked : (struct timespec){ 0 };

	return waited(syscall(SYS_ppoll, fds, count, asked ? &real : NULL, mask, SIGNALS_BYTES),
		asked ? ns_of(asked) : 0);
}

OURS int select(int count, fd_set *restrict reads, fd_set *restrict writes,
	fd_set *restrict excepts, struct timeval *restrict asked)
{
	int64_t ns = asked ? asked->tv_sec * SECOND_NS + asked->tv_usec * 1000 : 0;

	return waited(syscall(SYS_select, count, reads, writes, excepts, asked), ns);
}

OURS int pselect(int count, fd_set *restrict reads, fd_set *restrict writes,
	fd_set *restrict excepts, const struct timespec *restrict asked,
	const sigset_t *restrict mask)
{
	struct timespec real = asked ? *asked : (struct timespec){ 0 };
	struct {
		const sigset_t *mask;
		size_t size;
	} masked = { mask, SIGNALS_BYTES };

	return waited(
		syscall(SYS_pselect6, count, reads, writes, excepts, asked ? &real : NULL, &masked),
		asked ? ns_of(asked) : 0);
}

OURS int epoll_pwait(int fd, struct epoll_event *events, int most, int ms, const sigset_t *mask)
{
	return waited(syscall(SYS_epoll_pwait, fd, events, most, ms, mask, SIGNALS_BYTES),
		(int64_t)ms * 1000000);
}

OURS int epoll_wait(int fd, struct epoll_event *events, int most, int ms)
{
	return epoll_pwait(fd, events, most, ms, NULL);
}

/* ---- waiting for other threads ------------------------------------------------------------------ */

/* The C library's own function, which this one hides. */
static void *behind(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		abort();
	return found;
}

/* The time on the kernel's clock that corresponds to the program's `when`. */
static struct timespec really(clockid_t clock, const struct timespec *when)
{
	int64_t left = left_until(clock, when);

	return spec_of(true_time(clock) + (left > 0 ? left : 0));
}

OURS int sem_clockwait(
	sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict when)
{
	int (*wait)(sem_t * semaphore, clockid_t clock, const struct timespec *when) = NULL;
	int64_t left = left_until(clock, when);
	struct timespec real = really(clock, when);
	int result;

	*(void **)&wait = behind("sem_clockwait");
	result = wait(semaphore, clock, &real);
	if (result < 0 && errno == ETIMEDOUT)
		pass(left);
	return result;
}

OURS int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict when)
{
	return sem_clockwait(semaphore, CLOCK_REALTIME, when);
}

OURS int pthread_cond_clockwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
	clockid_t clock, const struct timespec *restrict when)
{
	int (*wait)(pthread_cond_t * condition, pthread_mutex_t * mutex, clockid_t clock,
		const struct timespec *when) = NULL;
	struct timespec real = really(clock, when);

	*(void **)&wait = behind("pthread_cond_clockwait");
	return wait(condition, mutex, clock, &real);
}

/*
 * A condition does not say which clock it uses, but a time of day is far from a time since the
 * start.
 */
OURS int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
	const struct timespec *restrict when)
{
	int (*wait)(pthread_cond_t * condition, pthread_mutex_t * mutex,
		const struct timespec *when) = NULL;
	clockid_t which = when->tv_sec >= START_S / 2 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
	struct timespec real = really(which, when);

	*(void **)&wait = behind("pthread_cond_timedwait");
	return wait(condition, mutex, &real);
}

/*
 * ---- random bytes ------------------------------------------------------------------------------
 */

/* splitmix64: the bytes depend only on how many were drawn before. */
static uint64_t draw(void)
{
	uint64_t z = (atomic_fetch_add(&drawn, 1) + 1) * SEED;

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

OURS ssize_t getrandom(void *bytes, size_t len, unsigned flags)
{
	if (!running)
		return syscall(SYS_getrandom, bytes, len, flags);
	for (size_t at = 0; at < len; at += sizeof(uint64_t)) {
		uint64_t eight = draw();

		memcpy((char *)bytes + at, &eight,
			len - at < sizeof(eight) ? len - at : sizeof(eight));
	}
	return (ssize_t)len;
}

OURS int getentropy(void *bytes, size_t len)
{
	return getrandom(bytes, len, 0) < 0 ? -1 : 0;
}
