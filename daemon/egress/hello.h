/*
 * Reads the server name in the greeting (ClientHello) with which TLS begins, and whether the server asks
 * for another one.  Nothing is decrypted, and the bytes are hostile.
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

/*
 * Reads the first bytes of a connection.  With HELLO_NAMED, *ret_name is set (small letters) and *ret_len:
 * the bytes of the greeting, after which others may follow.
 */
enum hello hello_read(
	const uint8_t *bytes, size_t len, char ret_name[EGRESS_HOST_MAX], size_t *ret_len);

/* The same for the second greeting, before which a client may send one record without a meaning. */
enum hello hello_read_again(
	const uint8_t *bytes, size_t len, char ret_name[EGRESS_HOST_MAX], size_t *ret_len);

#define HELLO_ANSWER_BYTES ((size_t)50) /* of the server say at most which of these it is */

enum hello_answer {
	HELLO_ANSWER_MORE, /* are needed */
	HELLO_ANSWER_LAST, /* whatever the program sends is no greeting any more */
	HELLO_ANSWER_RETRY,
	HELLO_ANSWER_NONE, /* of TLS, or cut into records that are too short to tell */
};

enum hello_answer hello_answer_read(const uint8_t *bytes, size_t len);
