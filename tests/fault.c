/*
 * The linker redirects our code's calls to __wrap_x() and gives us the original as __real_x();
 * tests/CMakeLists.txt has the list of names.  Counting is per thread: a test that arms a fault
 * never affects the helper threads of the code under test.
 */

#include "tests/fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A body that still fails after so many calls is in an endless loop. */
#define CALLS_MAX 100000

static _Thread_local enum fault_kind armed;
static _Thread_local unsigned countdown;
static _Thread_local bool hit;

void fault_arm(enum fault_kind kind, unsigned nth)
{
	armed = kind;
	countdown = nth;
	hit = false;
}

void fault_disarm(void)
{
	armed = FAULT_NONE;
}

bool fault_hit(void)
{
	return hit;
}

bool fault_again(struct fault_loop *loop)
{
	if (loop->nth > 0 && !hit)
		return false;
	if (loop->nth == CALLS_MAX)
		abort();
	fault_arm(loop->kind, ++loop->nth);
	return true;
}

void fault_loop_done(struct fault_loop *loop)
{
	(void)loop;
	fault_disarm();
}

/* Returns whether this call must fail. */
static bool due(enum fault_kind kind)
{
	if (armed != kind || --countdown > 0)
		return false;

	armed = FAULT_NONE;
	hit = true;
	return true;
}

static bool due_errno(enum fault_kind kind, int error)
{
	if (!due(kind))
		return false;

	errno = error;
	return true;
}

static bool io_fails(enum fault_kind kind)
{
	return due_errno(kind, EIO) || due_errno(FAULT_INTERRUPT, EINTR);
}

static size_t shortened(enum fault_kind kind, size_t len)
{
	return len > 1 && due(kind) ? 1 : len;
}

/* clang-format off */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t len);
ssize_t __real_read(int fd, void *bytes, size_t len);
ssize_t __real___read_chk(int fd, void *bytes, size_t len, size_t room);
ssize_t __real_write(int fd, const void *bytes, size_t len);
ssize_t __real_recvmsg(int fd, struct msghdr *msg, int flags);
ssize_t __real_sendmsg(int fd, const struct msghdr *msg, int flags);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t len);
ssize_t __wrap_read(int fd, void *bytes, size_t len);
ssize_t __wrap___read_chk(int fd, void *bytes, size_t len, size_t room);
ssize_t __wrap_write(int fd, const void *bytes, size_t len);
ssize_t __wrap_recvmsg(int fd, struct msghdr *msg, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags);
/* clang-format on */

void *__wrap_malloc(size_t size)
{
	return due_errno(FAULT_ALLOC, ENOMEM) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return due_errno(FAULT_ALLOC, ENOMEM) ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return due_errno(FAULT_ALLOC, ENOMEM) ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
	return due_errno(FAULT_ALLOC, ENOMEM) ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t len)
{
	return due_errno(FAULT_ALLOC, ENOMEM) ? NULL : __real_strndup(text, len);
}

ssize_t __wrap_read(int fd, void *bytes, size_t len)
{
	if (io_fails(FAULT_READ))
		return -1;
	return __real_read(fd, bytes, shortened(FAULT_SHORT_READ, len));
}

/* Under _FORTIFY_SOURCE, read() becomes this where the compiler knows the size of the target. */
ssize_t __wrap___read_chk(int fd, void *bytes, size_t len, size_t room)
{
	if (io_fails(FAULT_READ))
		return -1;
	return __real___read_chk(fd, bytes, shortened(FAULT_SHORT_READ, len), room);
}

ssize_t __wrap_write(int fd, const void *bytes, size_t len)
{
	if (io_fails(FAULT_WRITE))
		return -1;
	return __real_write(fd, bytes, shortened(FAULT_SHORT_WRITE, len));
}

ssize_t __wrap_recvmsg(int fd, struct msghdr *msg, int flags)
{
	return io_fails(FAULT_READ) ? -1 : __real_recvmsg(fd, msg, flags);
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	return io_fails(FAULT_WRITE) ? -1 : __real_sendmsg(fd, msg, flags);
}
