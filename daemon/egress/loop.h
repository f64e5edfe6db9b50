/* What waits in the loop of ced-egress: a descriptor, what it waits for, and whom that concerns. */
#pragma once

#include <stdint.h>
#include <sys/epoll.h>

struct loop_io {
	int fd;
	uint32_t events; /* registered; 0: not in the loop */
	void (*on_event)(struct loop_io *io, uint32_t events);
};

struct loop {
	int epoll;
};

/* Waits for these events of io->fd from here on; 0: for none.  -1: no memory in the kernel. */
static inline int loop_want(const struct loop *loop, struct loop_io *io, uint32_t events)
{
	struct epoll_event event = { .events = events, .data = { .ptr = io } };
	int how = !io->events ? EPOLL_CTL_ADD : events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;

	if (io->events == events)
		return 0;
	if (epoll_ctl(loop->epoll, how, io->fd, &event) < 0)
		return -1;
	io->events = events;
	return 0;
}
