/*
 * A connection to the daemon with many questions at a time, none of which waits for another.  It is
 * one of the C client (clients/c/ced.h) that connects again by itself.
 *
 * The owner polls link_fd() for link_events() and then calls link_turn().  Answers and
 * notifications come to its callbacks from there.  A link that broke is closed; the next
 * link_ask() connects again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/value.h"

struct ced_client;

/* The values live until the function returns.  None of them may end the link. */
struct link_watch {
	void *context;
	void (*on_notice)(void *context, const char *method, const struct value *params);
	/* Exactly one of `error` and `result` is there. */
	void (*on_answer)(
		void *context, uint32_t id, const struct value *error, const struct value *result);
	/* The connection is gone, and with it all questions that have no answer yet. */
	void (*on_lost)(void *context, const struct err *why);
};

struct link {
	const char *path;
	const char *name; /* what it calls itself in `hello` */
	struct link_watch watch;
	struct ced_client *connection; /* NULL: not connected */
	struct err broken;             /* a message that cannot be read */
};

/* Keeps `path`. */
void link_init(struct link *link, const char *path, const struct link_watch *watch);
void link_done(struct link *link); /* a second call is harmless */

/*
 * Sends a question, or keeps it until the daemon reads.  *ret_id is what its answer will have.  -1:
 * there is no daemon, or the question is too large.
 */
int link_ask(struct link *link, const char *method, const struct value *params, uint32_t *ret_id,
	struct err *err);

int link_fd(const struct link *link);        /* -1: nothing to poll */
short link_events(const struct link *link);  /* POLLIN, and POLLOUT when something waits */
size_t link_unsent(const struct link *link); /* bytes that the daemon has not read yet */

/* Sends and reads what is possible now, without waiting. */
void link_turn(struct link *link);
