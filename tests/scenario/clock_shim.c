/*
 * A wall clock that a test can set, in front of libc's (LD_PRELOAD): the milliseconds in the file
 * that CED_TEST_CLOCK names are added to it.  Time namespaces do not move CLOCK_REALTIME.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *ahead_ms;

__attribute__((constructor)) static void start(void)
{
	const char *path = getenv("CED_TEST_CLOCK");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *room;

	if (fd < 0)
		return;
	room = mmap(NULL, sizeof(*ahead_ms), PROT_READ, MAP_SHARED, fd, 0);
	if (room != MAP_FAILED)
		ahead_ms = room;
	(void)close(fd);
}

int clock_gettime(clockid_t clock, struct timespec *ret_now)
{
	long r = syscall(SYS_clock_gettime, clock, ret_now);
	int64_t ms = ahead_ms ? *ahead_ms : 0;

	if (r == 0 && clock == CLOCK_REALTIME) {
		int64_t ns = (int64_t)ret_now->tv_nsec + ms % 1000 * 1000000;

		ret_now->tv_sec += ms / 1000 + (ns >= 1000000000) - (ns < 0);
		ret_now->tv_nsec = (long)(ns + (ns < 0 ? 1000000000 : 0) -
					  (ns >= 1000000000 ? 1000000000 : 0));
	}
	return (int)r;
}
