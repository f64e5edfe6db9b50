#include "cli/base/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/buf.h"
#include "proto/base/cleanup.h"
#include "proto/json.h"

#define PIECE ((size_t)64 << 10)

static int open_source(const char *path, struct err *err)
{
	struct stat about;
	int fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
					: open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return err_sys(err, "cannot read %s", path);
	if (fstat(fd, &about) == 0 && S_ISDIR(about.st_mode)) {
		close(fd);
		return err_set(err, ERR_INVALID, "cannot read %s: it is a folder", path);
	}
	return fd;
}

static int read_to_end(int fd, struct buf *buf, struct err *err)
{
	for (;;) {
		ssize_t got;

		if (buf_reserve(buf, PIECE) < 0)
			return err_set(
				err, ERR_TOO_BIG, "more than %zu MiB", SOURCE_BYTES_MAX >> 20);
		got = read(fd, buf->bytes + buf->len, PIECE);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_sys(err, "cannot read");
		if (got == 0)
			return 0;
		buf->len += (size_t)got;
	}
}

int source_read(struct arena *arena, const char *path, struct source *ret_source, struct err *err)
{
	auto_fd int fd = open_source(path, err);
	struct buf buf;
	const char *bytes;
	int status;

	if (fd < 0)
		return -1;
	buf_init(&buf, SOURCE_BYTES_MAX + PIECE);
	status = read_to_end(fd, &buf, err);
	bytes = status < 0 ? NULL : arena_copy(arena, buf.bytes ? buf.bytes : "", buf.len);
	*ret_source = (struct source){ bytes, buf.len };
	buf_done(&buf);
	if (status < 0)
		return err_wrap(err, "%s", path);
	if (!bytes)
		return err_set(err, ERR_MEMORY, "%s: no memory", path);
	return 0;
}

int source_json(struct arena *arena, const char *json, size_t len, struct value **ret_value,
	struct err *err)
{
	return json_parse(arena, json, len, NULL, ret_value, err);
}
