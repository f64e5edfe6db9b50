/*
 * The messages between the daemon and ced-egress, the only process that reaches the network.
 *
 * They use a SOCK_SEQPACKET pair with one message per packet: a head, then the body of its kind, of
 * one fixed size.  ced-egress checks what the daemon sends, and the daemon what ced-egress sends; a
 * message of the wrong shape ends the conversation.
 *
 *	SETUP ... (BEGIN ... END)*			ced -> ced-egress
 *	READY  (DECIDED [CLOSED])* ENDED		ced-egress -> ced
 *
 * BEGIN brings a socket, over which the slot of the run sends its listeners.  Each connection that
 * a program makes is reported once with DECIDED, before a byte of it leaves, and, if it was allowed,
 * once more with CLOSED.  After END come the reports of what was still open, then ENDED, and no
 * report of that run after it.  ENDED comes at once, or, where END says so, when what the program has
 * sent has gone on to its servers, which takes EGRESS_DRAIN_MS at most.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"

#define EGRESS_MAGIC         0x43454701U
#define EGRESS_HOST_MAX      256 /* a name of 253 characters, or "*." and a suffix */
#define EGRESS_RULES_MAX     64
#define EGRESS_PRIVATE_MAX   64
#define EGRESS_RESOLVERS_MAX 512
#define EGRESS_ADDRESS_MAX   48
#define EGRESS_DRAIN_MS      1000

enum egress_kind {
	EGRESS_NONE = 0,
	/* ced -> ced-egress */
	EGRESS_SETUP, /* before all others, and again when the settings have changed */
	EGRESS_BEGIN, /* fd: a socket that brings the listeners */
	EGRESS_END,
	/* ced-egress -> ced */
	EGRESS_READY, /* it serves */
	EGRESS_DECIDED,
	EGRESS_CLOSED,
	EGRESS_ENDED,
	EGRESS_KIND_COUNT,
};

/* Addresses that are closed to all rules and opened by a setting. */
struct egress_private {
	uint8_t address[16]; /* IPv4 as ::ffff:a.b.c.d */
	uint32_t bits;       /* of the 128 that must be equal */
	uint32_t port;       /* 0: all */
};

struct egress_setup {
	char resolvers[EGRESS_RESOLVERS_MAX]; /* "1.1.1.1:53,[::1]:53" */
	uint32_t private_count;
	struct egress_private privates[EGRESS_PRIVATE_MAX];
};

struct egress_rule {
	char host[EGRESS_HOST_MAX]; /* small letters; "*.example.org" and "*" are patterns */
	uint32_t address; /* that the run's file of hosts gives the name; 0: reached by the proxy */
	uint16_t port;
	uint8_t tls;   /* the server name of the TLS greeting must be the host */
	uint8_t proxy; /* the run has a listener for the proxy */
};

struct egress_begin {
	uint64_t run;
	uint64_t up_bytes, down_bytes; /* of all its connections together */
	uint32_t connections, at_once;
	uint32_t rule_count;
	uint32_t padding;
	struct egress_rule rules[EGRESS_RULES_MAX];
};

enum egress_verdict {
	EGRESS_ALLOWED,
	EGRESS_DENIED, /* by a rule of the run, or a closed address */
	EGRESS_FAILED, /* the name was not found, or nobody answered */
	EGRESS_LIMIT,  /* a limit of the run was reached */
	EGRESS_VERDICT_COUNT,
};

enum egress_way {
	EGRESS_BY_ADDRESS,
	EGRESS_BY_PROXY,
	EGRESS_WAY_COUNT,
};

/* Why a connection was not allowed, or ended. */
enum egress_why {
	EGRESS_WHY_NONE,
	EGRESS_WHY_RULE,           /* no rule names this host and port */
	EGRESS_WHY_CLOSED_ADDRESS, /* the name leads to addresses that are closed */
	EGRESS_WHY_NOT_TLS,
	EGRESS_WHY_NO_SERVER_NAME,
	EGRESS_WHY_SERVER_NAME, /* TLS asks for another server */
	EGRESS_WHY_HIDDEN_NAME, /* TLS hides which server it asks for */
	EGRESS_WHY_REQUEST,     /* not a request that the proxy takes */
	EGRESS_WHY_LOOKUP,
	EGRESS_WHY_CONNECT,
	EGRESS_WHY_TIMEOUT,
	EGRESS_WHY_CONNECTIONS,
	EGRESS_WHY_AT_ONCE,
	EGRESS_WHY_UP_BYTES,
	EGRESS_WHY_DOWN_BYTES,
	EGRESS_WHY_MEMORY, /* ced-egress had no memory or no descriptor */
	EGRESS_WHY_COUNT,
};

/* Its texts hold names and addresses, and so only bytes for which egress_text_has() is true. */
struct egress_connection {
	uint64_t run;
	uint64_t up, down;  /* CLOSED: bytes from and to the program */
	int64_t connect_us; /* from the program's connection to the server's */
	int64_t took_us;    /* CLOSED, or DECIDED that is the end: the whole time */
	uint32_t verdict, way, why;
	uint32_t port;
	char host[EGRESS_HOST_MAX];       /* as meant by the program: a name, or an address */
	char sni[EGRESS_HOST_MAX];        /* server name in the TLS greeting; "" */
	char address[EGRESS_ADDRESS_MAX]; /* that it was connected to; "" */
};

struct egress_end {
	uint64_t run;
	uint32_t drains; /* END: 1 if the program was not killed, so its last bytes go on */
	uint32_t padding;
};

struct egress_msg {
	uint32_t magic;
	uint32_t kind;
	union {
		struct egress_setup setup;
		struct egress_begin begin;
		struct egress_end end; /* END, ENDED */
		struct egress_connection connection;
	} body;
};

/* Sends head and body.  -1 and ERR_BUSY on a full non-blocking socket. */
int egressmsg_send(int sock, const struct egress_msg *msg, int fd, struct err *err);

/*
 * Receives one message and checks kind, direction, size, terminators, ranges and the number of
 * descriptors.  Returns 1, 0 when the peer has closed the socket, -1 on failure (ERR_BUSY: nothing
 * has arrived yet).  The caller owns *ret_fd, or it is -1.
 */
int egressmsg_recv(
	int sock, bool from_daemon, struct egress_msg *ret_msg, int *ret_fd, struct err *err);

/* Letters, digits and "-._:". */
bool egress_text_has(uint8_t byte);

const char *egress_verdict_word(uint32_t verdict);
const char *egress_way_word(uint32_t way);
const char *egress_why_word(uint32_t why); /* NULL for EGRESS_WHY_NONE */
