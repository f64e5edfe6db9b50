/*
 * The daemon's end of the socket to ced-egress (proto/internal/egressmsg.h).  It has the process
 * started, sends it the settings, and starts another when it ends.  Runs that have begun go on
 * without it: their connections are cut, and what was not reported is lost.
 */
#pragma once

#include "daemon/loop/loop.h"
#include "daemon/settings/config.h"
#include "daemon/workers/spawner_link.h"
#include "proto/base/list.h"
#include "proto/internal/egressmsg.h"

struct egress_link;

/* A run with a network.  The owner holds it until ended() has been called. */
struct egress_run {
	struct list link;
	uint64_t id;
	int64_t ending_ms; /* when it was ended; 0: not yet */
	bool lost;         /* the process ended meanwhile */
	/* A connection was decided, or one that was allowed is over. */
	void (*on_connection)(
		struct egress_run *run, const struct egress_connection *connection, bool is_closed);
	/* No report follows.  Always from the loop. */
	void (*on_ended)(struct egress_run *run);
};

/* Gives NULL where no run may ask for a network. */
int egress_link_start(uv_loop_t *loop, const struct config *config, struct spawner_link *spawner,
	struct egress_link **ret_link, struct err *err);

/*
 * Begins a run with the rules in *begin.  *ret_slot_fd: a socket on which its slot sends the
 * listeners; the caller closes it.  -1: there is no ced-egress now, with the reason.
 */
int egress_link_begin(struct egress_link *link, struct egress_run *run, struct egress_begin *begin,
	int *ret_slot_fd, struct err *err);

/*
 * Ends a run that was begun; on_ended() follows.  `drains`: what its program has sent last still goes on, for
 * EGRESS_DRAIN_MS at most.  False: the daemon ends, and it has ended here.
 */
bool egress_link_end(struct egress_link *link, struct egress_run *run, bool drains);

/* Ends it without a word more to the owner. */
void egress_link_forget(struct egress_link *link, struct egress_run *run);

/* NULL: it serves; else why not.  Accepts NULL. */
const char *egress_link_trouble(const struct egress_link *link);

/*
 * Stops, and calls on_ended() of all that were ended.  The memory stays until egress_link_free(),
 * after the link to the spawner was closed.  Both accept NULL.
 */
void egress_link_close(struct egress_link *link);
void egress_link_free(struct egress_link *link);
