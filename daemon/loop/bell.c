#include "daemon/loop/bell.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/loop/loop.h"

struct bell {
	struct watch *watch;
	void (*on_rung)(void *owner);
	void *owner;
};

static void on_readable(void *owner, int events)
{
	struct bell *bell = owner;
	uint64_t count;

	(void)events;
	if (read(watch_fd(bell->watch), &count, sizeof(count)) > 0)
		bell->on_rung(bell->owner);
}

struct bell *bell_new(uv_loop_t *loop, void (*on_rung)(void *owner), void *owner, struct err *err)
{
	struct bell *bell = malloc(sizeof(*bell));
	int fd = bell ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;

	if (!bell) {
		(void)err_set(err, ERR_MEMORY, "no memory for a bell");
		return NULL;
	}
	if (fd < 0) {
		(void)err_sys(err, "eventfd");
		free(bell);
		return NULL;
	}
	*bell = (struct bell){ .on_rung = on_rung, .owner = owner };
	bell->watch = watch_new(loop, fd, UV_READABLE, on_readable, bell);
	if (!bell->watch) {
		(void)err_set(err, ERR_SYSTEM, "the kernel does not watch another descriptor");
		free(bell);
		return NULL;
	}
	return bell;
}

/* It fails only if the bell was rung 2^64 times and not heard: then the loop is about to hear it. */
void bell_ring(const struct bell *bell)
{
	const uint64_t one = 1;
	ssize_t written = write(watch_fd(bell->watch), &one, sizeof(one));

	(void)written;
}

void bell_close(struct bell *bell)
{
	if (!bell)
		return;
	watch_close(bell->watch);
	free(bell);
}
