/*
 * Channels by which the processes of a shell call tools and display.
 *
 * Processes cannot share one stream, so each message has a stream of its own.  A socket carries
 * descriptors: each byte on it comes with one end of a fresh stream pair.  A process (ced-call,
 * ced-display) takes one, sends JOB_CALL or JOB_DISPLAY, gets JOB_RETURN or JOB_RAISE, and leaves.
 * CHANNELS_SPARE untaken ends are kept in the socket.  A process that is killed ends only its own
 * channel.
 *
 * The socket is the job socket of a run.  A cell of a session has one of its own, so that what an
 * earlier cell has kept calls nobody.
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
	/* A process displays something: a media type, NUL, its content. */
	void (*display)(void *owner, uint64_t channel, const char *body, size_t len);
	void *owner;
};

/* The most that channels may carry.  0 bytes: such messages end their channel. */
struct channels_bounds {
	size_t call_bytes;    /* of one call */
	size_t display_bytes; /* of all that is displayed at a time */
	unsigned at_once;     /* open channels */
	unsigned in_all;
};

/* `queue_fd` is borrowed until channels_close().  NULL: no memory. */
struct channels *channels_start(uv_loop_t *loop, int queue_fd, const struct channels_events *events,
	const struct channels_bounds *bounds);

/* Sends an answer to the channel of this id and ends it.  A channel that has ended already gets none. */
void channels_answer(struct channels *channels, uint64_t id, enum job_kind kind, int32_t number,
	const char *body, size_t len);

/* Accepts NULL. */
void channels_close(struct channels *channels);
