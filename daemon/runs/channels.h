/*
 * Channels by which the processes of a shell call tools.
 *
 * Processes cannot share one stream, so each call has a stream of its own.  The job socket of such a
 * run carries descriptors: each byte on it comes with one end of a fresh stream pair.  A process
 * (ced-call) takes one, sends JOB_CALL, gets JOB_RETURN or JOB_RAISE, and leaves.  CHANNELS_SPARE
 * untaken ends are kept in the socket.  A process that is killed ends only its own channel.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "daemon/loop/loop.h"
#include "proto/internal/slotmsg.h"

#define CHANNELS_SPARE 4

struct channels;

struct channels_events {
	/* A process called a tool.  `channel` names the channel for channels_answer(). */
	void (*call)(void *owner, uint64_t channel, int32_t number, const char *body, size_t len);
	void *owner;
};

/*
 * `job_fd` is borrowed until channels_close().  Bodies have at most `bytes`; at most `most` channels
 * are open at a time, and the run gets at most `in_all`.  NULL: no memory.
 */
struct channels *channels_start(uv_loop_t *loop, int job_fd, const struct channels_events *events,
	size_t bytes, unsigned most, unsigned in_all);

/* Sends an answer to the channel of this id and ends it.  A channel that has ended already gets none. */
void channels_answer(struct channels *channels, uint64_t id, enum job_kind kind, int32_t number,
	const char *body, size_t len);

/* Accepts NULL. */
void channels_close(struct channels *channels);
