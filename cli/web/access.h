/*
 * Who may ask `cectl web`: a browser that shows its own page, and a program that has the token.
 *
 * Each barrier is for another attack.  The host name: a page of another site whose name was made to
 * lead here (DNS rebinding).  Origin and Sec-Fetch-Site: a page of another site that asks us, or of
 * another port of this host.  The token: every other user and program of this host.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/web/request.h"
#include "proto/base/err.h"

#define ACCESS_TOKEN_BYTES 32
#define ACCESS_TOKEN_SIZE  (2 * ACCESS_TOKEN_BYTES + 1) /* as hex digits, with its NUL */

struct access {
	char token[ACCESS_TOKEN_SIZE];
	char address[64]; /* the host's name in URLs: "127.0.0.1", "[::1]"; "" for a Unix socket */
	uint16_t port;    /* 0: a Unix socket; then any port of any loopback name */
};

/* Draws a token.  Keeps nothing. */
int access_init(struct access *access, const char *address, uint16_t port, struct err *err);

/*
 * Whether the request comes from our own page, or from no page at all.  NULL, or why not, as a
 * sentence.
 */
const char *access_refuses(const struct access *access, const struct web_request *request);

/* Whether the request has the token.  Takes as long for every wrong token of the right length. */
bool access_has_token(const struct access *access, const struct web_request *request);
