/*
 * The head of a request to the proxy: CONNECT, or an absolute URL of plain HTTP.  One request for
 * each connection; nothing is read after the head.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/internal/egressmsg.h"

#define REQUEST_HEAD_MAX ((size_t)16 << 10)

enum request_head {
	HEAD_MORE,
	HEAD_CONNECT,
	HEAD_URL,
	HEAD_BAD,
};

struct request_target {
	char host[EGRESS_HOST_MAX]; /* small letters, without a dot at its end */
	uint16_t port;
	size_t len; /* of the head, with its empty line */
};

/* Reads what is there of a head. */
enum request_head request_head_read(
	const char *bytes, size_t len, struct request_target *ret_target);

/*
 * Writes the head of HEAD_URL as a server wants it: path instead of URL, the URL's host as Host,
 * nothing that was meant for the proxy, and "Connection: close".  Returns its length; 0: no room.
 */
size_t request_head_rewrite(
	const char *head, const struct request_target *target, char *ret_head, size_t room);
