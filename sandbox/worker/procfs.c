#include "sandbox/worker/procfs.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/cleanup.h"

#define MAPS_BYTES_MAX (256U << 10)

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

int procfs_each_mapping(int proc, int (*visit)(void *context, const char *line, struct err *err),
	void *context, struct err *err)
{
	auto_free char *maps = malloc(MAPS_BYTES_MAX);
	char *rest = NULL;

	if (!maps)
		return err_set(err, ERR_MEMORY, "no memory for maps");
	if (procfs_read(proc, "self/maps", maps, MAPS_BYTES_MAX, err) < 0)
		return -1;
	for (char *line = strtok_r(maps, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (visit(context, line, err) < 0)
			return -1;
	return 0;
}
