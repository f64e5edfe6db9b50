/*
 * /dev/stdin, /dev/stdout, /dev/stderr and /dev/fd/N in a jail: a library that /etc/ld.so.preload
 * puts before the C library in every dynamically linked program.
 *
 * Outside, these names lead through /proc, which no jail has.  Here a program that opens one of
 * them by the C library gets a copy of the descriptor, as from dup().  So it reaches nothing that
 * was not open already.  The kernel does not know the names: a program that makes the system call
 * itself, or is linked statically, does not find them.
 *
 * As on BSD, a file is not opened anew: its position is shared, and it can be opened only in the
 * mode in which it is open.
 */
#undef _FORTIFY_SOURCE /* its headers define inline functions of the same names */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OURS __attribute__((visibility("default")))

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the C library's are not for readers */

#define NO_DEVICE (-1)

/* ---- which descriptor is meant --------------------------------------------------------------- */

static const char *behind(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 ? path + len : NULL;
}

static int number_of(const char *digits)
{
	int number = 0;

	if (!*digits || strlen(digits) > 6)
		return NO_DEVICE;
	for (; *digits; digits++) {
		if (*digits < '0' || *digits > '9')
			return NO_DEVICE;
		number = number * 10 + (*digits - '0');
	}
	return number;
}

static int device_of(const char *path)
{
	static const char *const names[] = { "stdin", "stdout", "stderr" };
	static const char *const folders[] = { "fd/", "/proc/self/fd/" };
	const char *name;

	if (!path || path[0] != '/' || (path[1] != 'd' && path[1] != 'p'))
		return NO_DEVICE;
	name = behind(path, folders[1]);
	if (name)
		return number_of(name);
	name = behind(path, "/dev/");
	if (!name)
		return NO_DEVICE;
	for (int fd = 0; fd < 3; fd++)
		if (strcmp(name, names[fd]) == 0)
			return fd;
	name = behind(name, folders[0]);
	return name ? number_of(name) : NO_DEVICE;
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool is_open_for(int has, int wanted)
{
	int mode = has & O_ACCMODE;

	return !(has & O_PATH) && (mode == O_RDWR || mode == (wanted & O_ACCMODE));
}

static int open_device(int fd, int flags)
{
	int has = fcntl(fd, F_GETFL);

	if (has < 0) {
		errno = ENOENT;
		return -1;
	}
	if (!is_open_for(has, flags)) {
		errno = EACCES;
		return -1;
	}
	return fcntl(fd, (flags & O_CLOEXEC) ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
}

static int open_any(int folder, const char *path, int flags, mode_t mode)
{
	int fd = device_of(path);

	if (fd != NO_DEVICE)
		return open_device(fd, flags);
	return (int)syscall(SYS_openat, folder, path, flags, mode);
}

static bool has_mode(int flags)
{
	return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}

#define TAKE_MODE(flags, mode)                         \
	do {                                           \
		va_list rest;                          \
                                                       \
		va_start(rest, flags);                 \
		if (has_mode(flags))                   \
			(mode) = va_arg(rest, mode_t); \
		va_end(rest);                          \
	} while (0)

OURS int open(const char *path, int flags, ...)
{
	mode_t mode = 0;

	TAKE_MODE(flags, mode);
	return open_any(AT_FDCWD, path, flags, mode);
}

OURS int open64(const char *path, int flags, ...) __attribute__((alias("open")));

OURS int openat(int folder, const char *path, int flags, ...)
{
	mode_t mode = 0;

	TAKE_MODE(flags, mode);
	return open_any(folder, path, flags, mode);
}

OURS int openat64(int folder, const char *path, int flags, ...) __attribute__((alias("openat")));

OURS int creat(const char *path, mode_t mode)
{
	return open_any(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

OURS int creat64(const char *path, mode_t mode) __attribute__((alias("creat")));

/* The names that the compiler uses with _FORTIFY_SOURCE. */
/* NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming) */
OURS int __open_2(const char *path, int flags);
OURS int __open64_2(const char *path, int flags) __attribute__((alias("__open_2")));
OURS int __openat_2(int folder, const char *path, int flags);
OURS int __openat64_2(int folder, const char *path, int flags) __attribute__((alias("__openat_2")));

OURS int __open_2(const char *path, int flags)
{
	return open_any(AT_FDCWD, path, flags, 0);
}

OURS int __openat_2(int folder, const char *path, int flags)
{
	return open_any(folder, path, flags, 0);
}
/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming) */

/* ---- streams of the C library ---------------------------------------------------------------- */

static int flags_of(const char *mode)
{
	int flags = strchr(mode, 'e') ? O_CLOEXEC : 0;

	if (strchr(mode, '+'))
		return flags | O_RDWR;
	return flags | (mode[0] == 'r' ? O_RDONLY : O_WRONLY);
}

static FILE *stream_of(int device, const char *mode)
{
	int fd = open_device(device, flags_of(mode));
	FILE *stream = fd < 0 ? NULL : fdopen(fd, mode);

	if (fd >= 0 && !stream)
		close(fd);
	return stream;
}

OURS FILE *fopen(const char *restrict path, const char *restrict mode)
{
	static FILE *(*real)(const char *path, const char *mode);
	int device = device_of(path);

	if (device != NO_DEVICE)
		return stream_of(device, mode);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "fopen");
	return real(path, mode);
}

OURS FILE *fopen64(const char *restrict path, const char *restrict mode)
	__attribute__((alias("fopen")));

/* A stream that is reopened with its own name only gets another descriptor of the same file. */
OURS FILE *freopen(const char *restrict path, const char *restrict mode, FILE *restrict stream)
{
	static FILE *(*real)(const char *path, const char *mode, FILE *stream);
	int device = device_of(path);
	int fd = device == NO_DEVICE ? -1 : open_device(device, flags_of(mode));

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "freopen");
	if (device == NO_DEVICE)
		return real(path, mode, stream);
	if (fd < 0)
		return NULL;
	(void)fflush(stream);
	if (dup2(fd, fileno(stream)) < 0) {
		close(fd);
		return NULL;
	}
	close(fd);
	return stream;
}

OURS FILE *freopen64(const char *restrict path, const char *restrict mode, FILE *restrict stream)
	__attribute__((alias("freopen")));

/* ---- functions that only look at a name ------------------------------------------------------ */

static int status_of(int folder, const char *path, struct stat *ret_status, int flags)
{
	int device = device_of(path);
	int result;

	if (device == NO_DEVICE)
		return (int)syscall(SYS_newfstatat, folder, path, ret_status, flags);
	result = (int)syscall(SYS_fstat, device, ret_status);
	if (result < 0)
		errno = ENOENT;
	return result;
}

OURS int stat(const char *restrict path, struct stat *restrict ret_status)
{
	return status_of(AT_FDCWD, path, ret_status, 0);
}

OURS int lstat(const char *restrict path, struct stat *restrict ret_status)
{
	return status_of(AT_FDCWD, path, ret_status, AT_SYMLINK_NOFOLLOW);
}

OURS int fstatat(int folder, const char *restrict path, struct stat *restrict ret_status, int flags)
{
	return status_of(folder, path, ret_status, flags);
}

OURS int stat64(const char *restrict path, struct stat64 *restrict ret_status)
	__attribute__((alias("stat")));
OURS int lstat64(const char *restrict path, struct stat64 *restrict ret_status)
	__attribute__((alias("lstat")));
OURS int fstatat64(int folder, const char *restrict path, struct stat64 *restrict ret_status,
	int flags) __attribute__((alias("fstatat")));

OURS int statx(int folder, const char *restrict path, int flags, unsigned mask,
	struct statx *restrict ret_status)
{
	int device = device_of(path);
	int result;

	if (device == NO_DEVICE)
		return (int)syscall(SYS_statx, folder, path, flags, mask, ret_status);
	result = (int)syscall(SYS_statx, device, "", AT_EMPTY_PATH | (flags & AT_STATX_SYNC_TYPE),
		mask, ret_status);
	if (result < 0)
		errno = ENOENT;
	return result;
}

static int access_of(int device, int wanted)
{
	int has = fcntl(device, F_GETFL);

	if (has < 0) {
		errno = ENOENT;
		return -1;
	}
	if ((wanted & X_OK) || ((wanted & R_OK) && !is_open_for(has, O_RDONLY)) ||
		((wanted & W_OK) && !is_open_for(has, O_WRONLY))) {
		errno = EACCES;
		return -1;
	}
	return 0;
}

OURS int access(const char *path, int wanted)
{
	int device = device_of(path);

	if (device != NO_DEVICE)
		return access_of(device, wanted);
	return (int)syscall(SYS_faccessat, AT_FDCWD, path, wanted);
}

OURS int faccessat(int folder, const char *path, int wanted, int flags)
{
	static int (*real)(int folder, const char *path, int wanted, int flags);
	int device = device_of(path);

	if (device != NO_DEVICE)
		return access_of(device, wanted);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "faccessat");
	return real(folder, path, wanted, flags);
}

OURS int euidaccess(const char *path, int wanted)
{
	return faccessat(AT_FDCWD, path, wanted, AT_EACCESS);
}

OURS int eaccess(const char *path, int wanted) __attribute__((alias("euidaccess")));

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
