/*
 * Reads the server name in the greeting (ClientHello) with which TLS begins.  Nothing is decrypted,
 * and the bytes are hostile.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/internal/egressmsg.h"

#define HELLO_MAX ((size_t)16 << 10)

enum hello {
	HELLO_MORE, /* so far it may be one: more bytes are needed */
	HELLO_NAMED,
	HELLO_UNNAMED,
	HELLO_HIDDEN, /* it is encrypted which server is meant */
	HELLO_NONE,   /* not TLS, or longer than HELLO_MAX */
};

/* Reads the first bytes of a connection.  *ret_name is set with HELLO_NAMED: small letters. */
enum hello hello_read(const uint8_t *bytes, size_t len, char ret_name[EGRESS_HOST_MAX]);
