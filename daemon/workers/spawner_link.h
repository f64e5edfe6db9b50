/*
 * The daemon's end of the socket to the spawner.  It sends one question at a time, in order, and
 * matches answers by sequence number.  It reports when the spawner dies.
 *
 * Before spawner_link_start() only spawner_ask_now() may be used: it waits for the answer (HELLO,
 * RUNTIME, SEAL).  That is before the loop runs and before the daemon reads from a client.
 * Afterwards spawner_ask() queues questions, and callbacks receive the answers.
 */
#pragma once

#include "daemon/loop/loop.h"
#include "proto/base/err.h"
#include "proto/internal/privmsg.h"

struct spawner_link;

/*
 * Receives the answer to a question.  The callee owns the descriptors and closes or keeps them.
 * When the spawner refused, msg->error and msg->text say why.
 */
typedef void spawner_answer(void *context, const struct priv_msg *msg, int *fds, unsigned fd_count);

/* Reports that a child ended, or that the spawner has gone, after which nothing works any more. */
struct spawner_events {
	void (*child_exited)(void *context, uint32_t child, int status);
	void (*spawner_lost)(void *context, const char *why);
	void *context;
};

/* Takes `sock`.  Returns NULL with *err. */
struct spawner_link *spawner_link_new(int sock, struct err *err);

/* Sends a question and waits for the answer.  A refusal is a failure here. */
int spawner_ask_now(struct spawner_link *link, struct priv_msg *msg, struct err *err);

int spawner_link_start(struct spawner_link *link, uv_loop_t *loop,
	const struct spawner_events *events, struct err *err);

/*
 * Sends a question.  The answer comes later from the loop; if the spawner dies first, it has the
 * error ERR_CLOSED.  An answer with an error comes before this call returns when the question
 * cannot be queued or sent: the spawner has gone, too many questions wait, or memory or descriptors
 * are short.  Takes `fds` on every path.
 */
void spawner_ask(struct spawner_link *link, const struct priv_msg *msg, const int *fds,
	unsigned fd_count, spawner_answer *on_answer, void *context);

void spawner_link_close(struct spawner_link *link);
