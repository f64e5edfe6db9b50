/*
 * The head of a msgpack object: the byte that names its form, and the number that follows.
 *
 * The scanner, the decoder and rpc_peek_msgid() all read heads with these functions.  So only this
 * module knows the format of received bytes.
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
	WIRE_REAL, /* number_len is 4 for a float, 8 for a double */
	WIRE_STR,
	WIRE_BIN,
	WIRE_EXT,
	WIRE_LIST,
	WIRE_MAP,
};

struct wire_head {
	enum wire_form form;
	uint8_t len;        /* bytes of the head itself */
	uint8_t number_len; /* bytes of the number; 0: it is inside the first byte */
	uint64_t
		number; /* an integer, or the bits of a real; else how many bytes or items follow */
};

/* Reads a head whose first byte is 0xc0 to 0xdf; only wire_head_read() calls it. */
int wire_head_read_long(const char *bytes, size_t len, struct wire_head *ret_head);

/* The head whose number is inside its byte: small integers, short texts, short lists and maps. */
static inline struct wire_head wire_head_in_one_byte(uint8_t lead)
{
	if (lead < 0x80)
		return (struct wire_head){ WIRE_UINT, 1, 0, lead };
	if (lead < 0x90)
		return (struct wire_head){ WIRE_MAP, 1, 0, lead & 0x0fU };
	if (lead < 0xa0)
		return (struct wire_head){ WIRE_LIST, 1, 0, lead & 0x0fU };
	if (lead < 0xc0)
		return (struct wire_head){ WIRE_STR, 1, 0, lead & 0x1fU };
	return (struct wire_head){ WIRE_INT, 1, 0, (uint64_t)(int8_t)lead };
}

/* Reads the head at the front.  Returns 1, or 0 when some of its bytes are missing. */
static inline int wire_head_read(const char *bytes, size_t len, struct wire_head *ret_head)
{
	uint8_t lead;

	if (len == 0)
		return 0;
	lead = (uint8_t)bytes[0];
	if (lead >= 0xc0 && lead <= 0xdf)
		return wire_head_read_long(bytes, len, ret_head);
	*ret_head = wire_head_in_one_byte(lead);
	return 1;
}

/* Returns the number of bytes of the object after its head; 0 for lists and maps. */
static inline uint64_t wire_head_body_len(const struct wire_head *head)
{
	if (head->form == WIRE_STR || head->form == WIRE_BIN)
		return head->number;
	if (head->form == WIRE_EXT)
		return head->number + 1; /* one byte names the type */
	return 0;
}

/* Returns the number of objects that follow: the items of a list, the keys and values of a map. */
static inline uint64_t wire_head_children(const struct wire_head *head)
{
	if (head->form == WIRE_LIST)
		return head->number;
	if (head->form == WIRE_MAP)
		return head->number * 2;
	return 0;
}
