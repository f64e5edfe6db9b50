#include "daemon/runs/gathering.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "daemon/runs/job_body.h"
#include "proto/base/cleanup.h"
#include "proto/base/fdio.h"
#include "proto/base/log.h"

#define HEADS_BYTES_MAX ((size_t)4 << 20) /* room for names and heads beside the files' bytes */
#define READ_BYTES      65536

static void on_bytes(void *owner, int events)
{
	struct gathering *gathering = owner;
	struct buf *bytes = &gathering->bytes;
	ssize_t got = 0;

	(void)events;
	if (buf_reserve(bytes, READ_BYTES) < 0) {
		log_event(LOG_LEVEL_WARNING, "artifacts.too_many_bytes");
	} else {
		got = read(watch_fd(gathering->pipe), bytes->bytes + bytes->len, READ_BYTES);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return;
	}
	if (got > 0) {
		bytes->len += (size_t)got;
		return;
	}
	gathering_close(gathering);
	if (!gathering->asked)
		gathering->on_end(gathering->owner);
}

int gathering_start(struct gathering *gathering, struct worker *worker, const struct job_spec *spec,
	struct err *err)
{
	auto_fd int globs = job_globs_file(spec, err);
	auto_fd int write_end = -1;
	/*
	 * The program's own file may match a glob.  artifacts_read() leaves it out, so it must not
	 * use up room for the program's output files.
	 */
	const uint64_t bytes = spec->limits.artifact_bytes + spec->code.len;
	int ends[2];

	if (globs < 0)
		return -1;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(err, "pipe for artifacts");
	write_end = ends[1];
	(void)fd_set_nonblocking(ends[0], true, err);
	buf_init(&gathering->bytes, (size_t)bytes + HEADS_BYTES_MAX);
	gathering->pipe =
		watch_new(zygote_loop(worker->zygote), ends[0], UV_READABLE, on_bytes, gathering);
	if (!gathering->pipe)
		return err_set(err, ERR_MEMORY, "no memory for artifacts");
	gathering->asked = true;
	return worker_collect(
		worker, write_end, globs, bytes, (uint32_t)spec->limits.artifact_count + 1);
}

void gathering_collected(struct gathering *gathering)
{
	if (!gathering->asked)
		return; /* it was not requested */
	gathering->asked = false;
	if (!gathering->pipe)
		gathering->on_end(gathering->owner);
}

void gathering_close(struct gathering *gathering)
{
	watch_close(gathering->pipe);
	gathering->pipe = NULL;
}

void gathering_done(struct gathering *gathering)
{
	gathering_close(gathering);
	buf_done(&gathering->bytes);
}
