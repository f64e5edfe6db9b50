/*
 * The head of a msgpack object: the byte that says what comes, and the number behind it.
 *
 * Everything that looks at msgpack bytes of others — the scanner, the decoder, the peek at a
 * request's id — reads them through here, so there is one place that knows the format.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum wire_form {
	WIRE_RESERVED, /* 0xc1, which the format never uses */
	WIRE_NIL,
	WIRE_FALSE,
	WIRE_TRUE,
	WIRE_UINT,
	WIRE_INT,
	WIRE_REAL, /* number_len tells float from double */
	WIRE_STR,
	WIRE_BIN,
	WIRE_EXT,
	WIRE_LIST,
	WIRE_MAP,
};

struct wire_head {
	enum wire_form form;
	uint8_t len;        /* of the head itself */
	uint8_t number_len; /* how many bytes of it are the number; 0: inside the first byte */
	uint64_t
		number; /* the integer or the bits of the real; else how many bytes or items follow */
};

/* Reads the head at the front.  Returns 1, or 0 when not all of its bytes are there. */
int wire_head_read(const char *bytes, size_t len, struct wire_head *ret_head);

/* Bytes that belong to the object behind its head; 0 for lists and maps. */
uint64_t wire_head_body_len(const struct wire_head *head);

/* Objects that follow: the items of a list, keys and values of a map. */
uint64_t wire_head_children(const struct wire_head *head);
