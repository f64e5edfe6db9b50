/*
 * The daemon's end of the conversation with the spawner: one question at a time, in order,
 * answers matched by sequence number, death noticed.
 *
 * Until link_start() the link is used synchronously (HELLO, RUNTIME, SEAL: before the loop runs
 * and before a client is heard); afterwards questions are queued and answered by callbacks.
 */
#pragma once

#include "daemon/loop/loop.h"
#include "proto/base/err.h"
#include "proto/internal/privmsg.h"

struct spawner_link;

/*
 * The answer to a question: `msg` with its descriptors, which are the callee's to close or keep.
 * When the spawner refused, msg->error and msg->text say why.
 */
typedef void spawner_answer(void *context, const struct priv_msg *msg, int *fds, unsigned fd_count);

/* A child ended; and the spawner itself has gone, after which nothing works any more. */
struct spawner_events {
	void (*child_exited)(void *context, uint32_t child, int status);
	void (*spawner_lost)(void *context, const char *why);
	void *context;
};

/* Takes `sock`.  NULL with *err. */
struct spawner_link *spawner_link_new(int sock, struct err *err);

/* Asks and waits.  Only before spawner_link_start().  A refusal is a failure here. */
int spawner_ask_now(struct spawner_link *link, struct priv_msg *msg, struct err *err);

int spawner_link_start(struct spawner_link *link, uv_loop_t *loop,
	const struct spawner_events *events, struct err *err);

/*
 * Asks; the answer comes later from the loop, also when the spawner dies first (then with
 * error ERR_CLOSED).  What cannot be asked at all, because the spawner has gone, too much is asked
 * or memory is short, is answered so before the call returns.  Takes `fds` on every path.
 */
void spawner_ask(struct spawner_link *link, const struct priv_msg *msg, const int *fds,
	unsigned fd_count, spawner_answer *on_answer, void *context);

void spawner_link_close(struct spawner_link *link);
