/*
 * Fails epoll_ctl() as if other processes of the daemon's user had taken all places in epoll sets,
 * and at once took any place that is freed.  It does so while the file that CED_TEST_PLACES names
 * begins with '1'.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static const volatile char *gone;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("CED_TEST_PLACES");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *map = fd >= 0 ? mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;

	if (fd >= 0)
		close(fd);
	gone = map == MAP_FAILED ? NULL : map;
}

int epoll_ctl(int set, int op, int fd, struct epoll_event *event)
{
	long result = syscall(SYS_epoll_ctl, set, op, fd, event);

	if (result == 0 && op == EPOLL_CTL_ADD && gone && *gone == '1') {
		(void)syscall(SYS_epoll_ctl, set, EPOLL_CTL_DEL, fd, event);
		errno = ENOSPC;
		return -1;
	}
	return (int)result;
}
