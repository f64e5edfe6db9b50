/*
 * ced-egress as a whole: the conversation with the daemon, the runs that have a network, and their
 * connections.  One thread, one loop.
 *
 * A run has listeners that its slot made inside its jail's network.  Here they are accepted from
 * outside: which address and port the program meant says getsockname(), and so which rule, before a
 * byte is read.
 */
#pragma once

#include "daemon/egress/loop.h"
#include "daemon/egress/names.h"
#include "proto/base/list.h"
#include "proto/internal/egressmsg.h"

struct egress {
	struct loop loop;
	struct loop_io control; /* the daemon */
	struct names *names;
	struct list runs;
	struct list dead; /* connections that are over; freed when no event can name them */
	bool over;
	struct err trouble;
};

int egress_init(struct egress *egress, int sock, struct err *err);

/* Serves until the daemon has gone (0) or something fails (-1). */
int egress_serve(struct egress *egress, struct err *err);

/* Sends a report.  Waits for the daemon, which reads it soon. */
void egress_tell(struct egress *egress, const struct egress_msg *msg);
