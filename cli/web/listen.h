/* The socket on which `cectl web` listens: a loopback address, or a file that only this user may use. */
#pragma once

#include <stdint.h>

#include "proto/base/err.h"

#define LISTEN_ADDRESS_SIZE 64
#define LISTEN_PATH_SIZE    108 /* as in struct sockaddr_un */

struct listener {
	int fd;
	char address[LISTEN_ADDRESS_SIZE]; /* as URLs have it: "127.0.0.1", "[::1]"; else "" */
	uint16_t port;
	char path[LISTEN_PATH_SIZE]; /* of a Unix socket, else "" */
};

/*
 * Listens on `where`: "127.0.0.1:8417", "localhost:8417", "[::1]:8417" (port 0: a free one), or
 * "unix:PATH".  A socket file on which nobody listens any more is replaced.  ERR_INVALID: `where` is
 * none of these.
 */
int listener_open(const char *where, struct listener *ret_listener, struct err *err);

/* Removes the socket file, too. */
void listener_close(struct listener *listener);
