#include "tests/unit/alone.h"

#include <dirent.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/workers/worker.h"

const struct job_limits ALONE_LIMITS = { .wall_ms = 5000,
	.cpu_ms = 5000,
	.cpu_percent = 100,
	.memory_bytes = 256 << 20,
	.disk_bytes = 64 << 20,
	.file_bytes = 64 << 20,
	.inodes = 4096,
	.pids = 64,
	.stdout_bytes = 4096,
	.stderr_bytes = 1024,
	.display_bytes = 4096,
	.artifact_bytes = 1 << 20,
	.artifact_count = 4,
	.open_files = 256 };

/* ---- the stand-in --------------------------------------------------------------------------- */

uv_loop_t *zygote_loop(struct zygote *zygote)
{
	return zygote->loop;
}

void zygote_on_warm(struct zygote *zygote, struct worker *worker)
{
	(void)worker;
	zygote->warm++;
}

void zygote_on_empty(struct zygote *zygote, struct worker *worker)
{
	(void)worker;
	zygote->empty++;
}

/* ---- one worker ----------------------------------------------------------------------------- */

bool alone_open(struct alone *alone, struct knobs *knobs)
{
	struct knobs none;
	int ends[2];

	memset(alone, 0, sizeof(*alone));
	alone->slot = -1;
	alone->played = (struct played){ -1, 0, 0, { 0 }, 0, -1, -1, -1, -1 };
	(void)uv_loop_init(&alone->loop);
	alone->play = (struct playing){ .loop = &alone->loop, .spawner = -1 };
	alone->zygote.loop = &alone->loop;
	knobs_init(&none);
	if (!playing_pair(SOCK_SEQPACKET, ends))
		return false;
	alone->slot = ends[1];
	alone->worker = worker_new(&alone->zygote, 3, ends[0], knobs ? knobs : &none);
	if (alone->worker)
		worker_opened(alone->worker);
	return alone->worker != NULL;
}

void alone_close(struct alone *alone)
{
	if (alone->worker)
		worker_close(alone->worker);
	if (alone->slot >= 0)
		close(alone->slot);
	played_close(&alone->played);
	(void)uv_run(&alone->loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&alone->loop);
}

bool alone_make(struct alone *alone)
{
	worker_make(alone->worker, &ALONE_LIMITS);
	return playing_make(&alone->play, alone->slot, &alone->played);
}

bool alone_warm(struct alone *alone)
{
	if (!alone_make(alone) || !playing_warm(&alone->played))
		return false;
	playing_turn(&alone->play, 0);
	return alone->worker->state == WORKER_WARM;
}

unsigned alone_fd_count(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned count = 0;

	while (folder && readdir(folder))
		count++;
	if (folder)
		(void)closedir(folder);
	return count;
}

int alone_file(const char *text)
{
	int fd = memfd_create("knob", MFD_CLOEXEC);

	return write(fd, text, strlen(text)) < 0 ? -1 : fd;
}
