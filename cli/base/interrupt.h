/*
 * Ctrl-C, SIGTERM and SIGHUP while cectl waits for a run: the first is noted, so that the run can
 * be cancelled and its result shown; the next one ends cectl at once.  A signal that was ignored
 * when cectl began (nohup) stays ignored.
 */
#pragma once

#include <poll.h>

/* From now on they are noted; as many calls of interrupt_release() give them back their usual effect. */
void interrupt_catch(void);
void interrupt_release(void);

/* The signal that was noted, or 0. */
int interrupt_noted(void);

/*
 * poll(), for `wait_ms` (-1: without a time limit).  -1 with EINTR at once if a signal is noted, also
 * one that came before.
 */
int interrupt_poll(struct pollfd *fds, nfds_t count, int wait_ms);

/* As if none had been noted, for what comes next. */
void interrupt_forget(void);

/* Ends cectl by the noted signal, so that a shell leaves its loop. */
void interrupt_pass_on(void);
