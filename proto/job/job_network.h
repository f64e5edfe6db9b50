/*
 * What a run asks of the network: hosts and ports, and how much.  The same words are used by the
 * settings for what runs may ask.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/value.h"

#define NETWORK_HOST_MAX  256
#define NETWORK_PORT_TLS  443 /* when a request names no other */
#define NETWORK_RULES_MAX 32  /* in a request */
#define NETWORK_PORTS_MAX 16  /* different ones, of all rules */
#define NETWORK_PAIRS_MAX 64  /* of host and port */

/* One host, or pattern ("*.example.org", "*"), and one port. */
struct network_pair {
	const char *host; /* small letters, no dot at its end */
	uint16_t port;
	bool tls;
	unsigned rule; /* its index in the request's list */
};

/* NULL in a job_spec: denied. */
struct job_network {
	struct network_pair pairs[NETWORK_PAIRS_MAX];
	size_t pair_count;
	uint16_t ports[NETWORK_PORTS_MAX];
	size_t port_count;
	bool has_pattern; /* then the run has a proxy */
	/* 0: the settings' default */
	uint64_t connections, at_once, up_bytes, down_bytes;
};

struct network_fault {
	const char *pointer; /* below "/network" */
	const char *reason;
	const char *message;
};

/*
 * Reads the value of `network`, whose shape run.json has checked.  Returns 0 (*ret_network is NULL
 * for "denied"), 1 with *ret_fault, -1 without memory.
 */
int job_network_read(struct arena *arena, const struct value *value,
	const struct job_network **ret_network, struct network_fault *ret_fault);

/*
 * Reads "host", "host:port", "*.host:port", "[address]:port" or "host:*" into parts.  `ret_host` is
 * in small letters.  *ret_port is 0 where there is none, and -1 for "*".  False: it is none of them.
 */
bool network_read_host(
	const char *text, size_t len, char ret_host[NETWORK_HOST_MAX], int *ret_port);

/* Whether a host is an address in some form, and no name: its last label is a number. */
bool network_is_address(const char *host);

/* Whether an allowed host or pattern covers one that is asked for. */
bool network_covers(const char *allowed, const char *asked);
