/*
 * A run with a network: its rules, its listeners, its connections and what they may use together.
 */
#pragma once

#include "daemon/egress/egress.h"
#include "proto/base/list.h"
#include "proto/internal/egressmsg.h"

#define RUN_LISTENERS_MAX 17
#define RUN_PROXY_PORT    3128

struct run {
	struct list link;
	struct egress *egress;
	struct egress_begin rules; /* and limits */
	struct loop_io bringer;    /* the socket that brings the listeners */
	struct run_listener {
		struct loop_io io;
		struct run *run;
	} listeners[RUN_LISTENERS_MAX];
	unsigned listener_count;
	struct list conns;
	uint64_t connections, at_once, up, down; /* so far; now; bytes so far */
	bool is_ending; /* only what the program has sent still goes to its servers */
	int64_t ending_ms;
};

/* Takes `bringer`. */
int run_start(struct egress *egress, const struct egress_begin *begin, int bringer);

struct run *run_find(struct egress *egress, uint64_t id);

/*
 * Takes no more connections.  `drains`: what the program has sent still goes to its servers.  The rest of
 * the end is run_end_drained()'s.
 */
void run_end(struct run *run, bool drains);

/* True: its connections are over and reported, or its time is, and it was freed. */
bool run_end_drained(struct run *run);

/* Looks at the deadlines of its connections. */
void run_tick(struct run *run);

/* The rule for the address and port that a program connected to, or NULL. */
const struct egress_rule *run_rule_of_address(
	const struct run *run, uint32_t address, uint16_t port);

/* The rule for a host that a program named to the proxy, or NULL. */
const struct egress_rule *run_rule_of_host(const struct run *run, const char *host, uint16_t port);
