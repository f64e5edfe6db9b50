/*
 * POSIX locks on files (fcntl() and lockf()) in a jail whose program is one process (see devices.c
 * for how this library comes to stand before the C library).
 *
 * The filter refuses such locks: jails could exchange messages by locks on the host's files, and
 * the kernel charges the memory of locks to no process.  But the locks of one process never
 * conflict with each other, and no other process can reach its files in /work and /tmp.  There
 * every lock succeeds, so this library may say so without the kernel.  SQLite relies on that:
 * within one process it keeps account of its connections itself.
 *
 * flock() and locks of open files (F_OFD_SETLK) can conflict within one process; they stay
 * refused.
 */
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OURS __attribute__((visibility("default")))

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the C library's are not for readers */

static bool is_alone;

/* The program of this process can start no other one.  For a zygote whose filter forbids that. */
OURS void ced_locks_begin(void);

void ced_locks_begin(void)
{
	is_alone = true;
}

static bool is_open_for(int has, short type)
{
	const int mode = has & O_ACCMODE;

	return type == F_UNLCK || mode == O_RDWR || mode == (type == F_WRLCK ? O_WRONLY : O_RDONLY);
}

static int lock_alone(int fd, short type)
{
	const int has = (int)syscall(SYS_fcntl, fd, F_GETFL);

	if (has < 0)
		return -1;
	if (type != F_RDLCK && type != F_WRLCK && type != F_UNLCK) {
		errno = EINVAL;
		return -1;
	}
	if (!is_open_for(has, type)) {
		errno = EBADF;
		return -1;
	}
	return 0;
}

OURS int fcntl(int fd, int command, ...)
{
	va_list rest;
	void *what;

	va_start(rest, command);
	what = va_arg(rest, void *);
	va_end(rest);
	if (is_alone && (command == F_SETLK || command == F_SETLKW))
		return lock_alone(fd, ((struct flock *)what)->l_type);
	if (is_alone && command == F_GETLK) {
		if (lock_alone(fd, F_UNLCK) < 0)
			return -1;
		((struct flock *)what)->l_type = F_UNLCK;
		return 0;
	}
	return (int)syscall(SYS_fcntl, fd, command, what);
}

OURS int fcntl64(int fd, int command, ...) __attribute__((alias("fcntl")));

OURS int lockf(int fd, int command, off_t len)
{
	static int (*real)(int fd, int command, off_t len);

	if (is_alone)
		return lock_alone(fd, command == F_LOCK || command == F_TLOCK ? F_WRLCK : F_UNLCK);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "lockf");
	return real(fd, command, len);
}

OURS int lockf64(int fd, int command, off64_t len) __attribute__((alias("lockf")));

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
