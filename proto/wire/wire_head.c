#include "proto/wire/wire_head.h"

#define LEAD_FIRST 0xc0U /* the first byte of the table; the last is 0xdf */

static const struct lead {
	uint8_t form;
	uint8_t number_len;
	uint8_t number; /* used when number_len is 0 */
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

static uint64_t read_number(const char *bytes, size_t number_len)
{
	const uint8_t *from = (const uint8_t *)bytes;
	uint64_t number = 0;

	for (size_t i = 0; i < number_len; i++)
		number = number << 8 | from[i];
	return number;
}

/* Extends a signed integer to 64 bits and keeps its sign. */
static uint64_t widen(uint64_t number, size_t number_len)
{
	unsigned unused = 64 - 8 * (unsigned)number_len;

	return (uint64_t)((int64_t)(number << unused) >> unused);
}

int wire_head_read_long(const char *bytes, size_t len, struct wire_head *ret_head)
{
	const struct lead *row = &leads[(uint8_t)bytes[0] - LEAD_FIRST];
	uint64_t number = row->number;

	if (len - 1 < row->number_len)
		return 0;
	if (row->number_len > 0)
		number = read_number(bytes + 1, row->number_len);
	if (row->form == WIRE_INT)
		number = widen(number, row->number_len);
	*ret_head = (struct wire_head){ (enum wire_form)row->form, (uint8_t)(1 + row->number_len),
		row->number_len, number };
	return 1;
}
