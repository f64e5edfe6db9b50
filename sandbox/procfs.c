#include "sandbox/procfs.h"

#include <fcntl.h>
#include <unistd.h>

#include "proto/base/cleanup.h"

int procfs_read(int proc, const char *path, char *ret_text, size_t size, struct err *err)
{
	auto_fd int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t got = 1;

	if (fd < 0)
		return err_sys(err, "open %s", path);
	while (got > 0 && len < size - 1) {
		got = read(fd, ret_text + len, size - 1 - len);
		if (got < 0)
			return err_sys(err, "read %s", path);
		len += (size_t)got;
	}
	ret_text[len] = '\0';
	return 0;
}
