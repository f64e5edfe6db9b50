#include "cli/terminal/piped.h"

#include <errno.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/buf.h"

#define PIECE ((size_t)64 << 10)

bool piped_is_there(int fd)
{
	struct stat about;

	return fstat(fd, &about) == 0 &&
	       (S_ISREG(about.st_mode) || S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode));
}

bool piped_is_folder(int fd)
{
	struct stat about;

	return fstat(fd, &about) == 0 && S_ISDIR(about.st_mode);
}

/* 1: there is something to read, or the end; 0: nothing came in time; -1. */
static int wait_for_more(int fd, int timeout_ms, struct err *err)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	int count;

	do {
		count = poll(&ready, 1, timeout_ms);
	} while (count < 0 && errno == EINTR);
	return count < 0 ? err_sys(err, "cannot wait for stdin") : count;
}

/* Until something comes: 0, or -1 when it is silent for too long. */
static int be_patient(int fd, int silence_ms, const struct output *notes, struct err *err)
{
	int first_ms = silence_ms < PIPED_NOTE_MS ? silence_ms : PIPED_NOTE_MS;
	int came = wait_for_more(fd, first_ms, err);

	if (came == 0 && silence_ms > PIPED_NOTE_MS) {
		say(notes, PAINT_DIM,
			"cectl: reading stdin, which is a pipe that is open and silent; it is given "
			"%d s\n",
			silence_ms / 1000);
		came = wait_for_more(fd, silence_ms - first_ms, err);
	}
	if (came == 0)
		return err_set(err, ERR_TIMEOUT,
			"stdin is a pipe on which nothing came for %d s: --stdin - waits for it as "
			"long as it takes, --stdin /dev/null runs the program without it",
			silence_ms / 1000);
	return came < 0 ? -1 : 0;
}

static int read_all(
	int fd, int silence_ms, const struct output *notes, struct buf *buf, struct err *err)
{
	for (;;) {
		ssize_t got;

		if (be_patient(fd, silence_ms, notes, err) < 0)
			return -1;
		if (buf_reserve(buf, PIECE) < 0)
			return err_set(err, ERR_TOO_BIG, "stdin: more than %zu MiB",
				SOURCE_BYTES_MAX >> 20);
		got = read(fd, buf->bytes + buf->len, PIECE);
		if (got < 0 && errno != EINTR && errno != EAGAIN)
			return err_sys(err, "cannot read stdin");
		if (got == 0)
			return 0;
		buf->len += got > 0 ? (size_t)got : 0;
	}
}

int piped_read(int fd, int silence_ms, const struct output *notes, struct arena *arena,
	struct source *ret_source, struct err *err)
{
	struct buf buf;
	int status;

	buf_init(&buf, SOURCE_BYTES_MAX + PIECE);
	status = read_all(fd, silence_ms, notes, &buf, err);
	if (status == 0) {
		ret_source->len = buf.len;
		ret_source->bytes = arena_copy(arena, buf.bytes ? buf.bytes : "", buf.len);
		if (!ret_source->bytes)
			status = err_set(err, ERR_MEMORY, "stdin: no memory");
	}
	buf_done(&buf);
	return status;
}
