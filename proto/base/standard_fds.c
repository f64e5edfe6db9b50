#include "proto/base/standard_fds.h"

#include <fcntl.h>
#include <unistd.h>

int standard_fds_hold(void)
{
	/* All lower numbers are taken, so that open() returns `fd`. */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_PATH) != fd)
			return -1;
	return 0;
}
