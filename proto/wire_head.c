#include "proto/wire_head.h"

#include <endian.h>
#include <string.h>

#define LEAD_FIRST 0xc0U /* 0xc0 to 0xdf are in the table; around them the byte holds the number */
#define LEAD_LAST  0xdfU

static const struct lead {
	uint8_t form;
	uint8_t number_len;
	uint8_t number; /* when number_len is 0 */
} leads[] = {
	/* clang-format off */
	{ WIRE_NIL,   0, 0 }, { WIRE_RESERVED, 0, 0 }, { WIRE_FALSE, 0, 0 }, { WIRE_TRUE, 0, 0 }, /* c0 */
	{ WIRE_BIN,   1, 0 }, { WIRE_BIN,      2, 0 }, { WIRE_BIN,   4, 0 }, { WIRE_EXT,  1, 0 }, /* c4 */
	{ WIRE_EXT,   2, 0 }, { WIRE_EXT,      4, 0 }, { WIRE_REAL,  4, 0 }, { WIRE_REAL, 8, 0 }, /* c8 */
	{ WIRE_UINT,  1, 0 }, { WIRE_UINT,     2, 0 }, { WIRE_UINT,  4, 0 }, { WIRE_UINT, 8, 0 }, /* cc */
	{ WIRE_INT,   1, 0 }, { WIRE_INT,      2, 0 }, { WIRE_INT,   4, 0 }, { WIRE_INT,  8, 0 }, /* d0 */
	{ WIRE_EXT,   0, 1 }, { WIRE_EXT,      0, 2 }, { WIRE_EXT,   0, 4 }, { WIRE_EXT,  0, 8 }, /* d4 */
	{ WIRE_EXT,   0, 16 }, { WIRE_STR,     1, 0 }, { WIRE_STR,   2, 0 }, { WIRE_STR,  4, 0 }, /* d8 */
	{ WIRE_LIST,  2, 0 }, { WIRE_LIST,     4, 0 }, { WIRE_MAP,   2, 0 }, { WIRE_MAP,  4, 0 }, /* dc */
	/* clang-format on */
};

/* The number inside the first byte: small integers, short texts, short lists and maps. */
static struct wire_head head_in_one_byte(uint8_t lead)
{
	if (lead < 0x80)
		return (struct wire_head){ WIRE_UINT, 1, 0, lead };
	if (lead < 0x90)
		return (struct wire_head){ WIRE_MAP, 1, 0, lead & 0x0fU };
	if (lead < 0xa0)
		return (struct wire_head){ WIRE_LIST, 1, 0, lead & 0x0fU };
	if (lead < LEAD_FIRST)
		return (struct wire_head){ WIRE_STR, 1, 0, lead & 0x1fU };
	return (struct wire_head){ WIRE_INT, 1, 0, (uint64_t)(int8_t)lead };
}

static uint64_t read_number(const char *bytes, size_t number_len)
{
	uint64_t number = 0;

	memcpy((char *)&number + sizeof(number) - number_len, bytes, number_len);
	return be64toh(number);
}

/* Integers below zero keep their sign when they get wider. */
static uint64_t widen(uint64_t number, size_t number_len)
{
	unsigned unused = 64 - 8 * (unsigned)number_len;

	return (uint64_t)((int64_t)(number << unused) >> unused);
}

int wire_head_read(const char *bytes, size_t len, struct wire_head *ret_head)
{
	const struct lead *row;
	uint64_t number;
	uint8_t lead;

	if (len == 0)
		return 0;
	lead = (uint8_t)bytes[0];
	if (lead < LEAD_FIRST || lead > LEAD_LAST) {
		*ret_head = head_in_one_byte(lead);
		return 1;
	}

	row = &leads[lead - LEAD_FIRST];
	if (len - 1 < row->number_len)
		return 0;
	number = row->number_len > 0 ? read_number(bytes + 1, row->number_len) : row->number;
	if (row->form == WIRE_INT)
		number = widen(number, row->number_len);
	*ret_head = (struct wire_head){ (enum wire_form)row->form, (uint8_t)(1 + row->number_len),
		row->number_len, number };
	return 1;
}

uint64_t wire_head_body_len(const struct wire_head *head)
{
	if (head->form == WIRE_STR || head->form == WIRE_BIN)
		return head->number;
	if (head->form == WIRE_EXT)
		return head->number + 1; /* one byte names the type */
	return 0;
}

uint64_t wire_head_children(const struct wire_head *head)
{
	if (head->form == WIRE_LIST)
		return head->number;
	if (head->form == WIRE_MAP)
		return head->number * 2;
	return 0;
}
