/* The scanner of wire.h: follows the structure of a message while it arrives. */

#include <assert.h>

#include "proto/wire/wire.h"
#include "proto/wire/wire_head.h"

void wire_scanner_init(struct wire_scanner *scanner, size_t size_max, unsigned depth_max)
{
	assert(depth_max <= WIRE_DEPTH_MAX);
	scanner->size_max = size_max;
	scanner->depth_max = depth_max;
	scanner->at = 0;
	scanner->missing = 1;
	scanner->depth = 0;
	scanner->passes_deep = false;
	scanner->is_too_deep = false;
}

/*
 * Enters a list or map that is not empty.  Below a level that is too deep no more levels are counted:
 * `missing` alone says where the message ends.
 */
static int descend(struct wire_scanner *scanner, uint64_t children, struct err *err)
{
	if (scanner->is_too_deep)
		return 0;
	if (scanner->depth >= scanner->depth_max) {
		scanner->is_too_deep = true;
		if (scanner->passes_deep)
			return 0;
		return err_set(err, ERR_INVALID, "message nests deeper than %u levels",
			scanner->depth_max);
	}
	if (children > 0)
		scanner->left[scanner->depth++] = children;
	return 0;
}

/* Counts one object less at this level. */
static void count_object(struct wire_scanner *scanner)
{
	scanner->missing--;
	if (scanner->depth > 0 && !scanner->is_too_deep)
		scanner->left[scanner->depth - 1]--;
}

static void ascend(struct wire_scanner *scanner)
{
	while (!scanner->is_too_deep && scanner->depth > 0 &&
		scanner->left[scanner->depth - 1] == 0)
		scanner->depth--;
}

/*
 * Processes one head.  Every announced object takes at least one byte.  So the scanner rejects a
 * message that is too big long before its bytes arrive.
 */
static int take_head(struct wire_scanner *scanner, const struct wire_head *head, struct err *err)
{
	uint64_t body_len = wire_head_body_len(head);
	uint64_t children = wire_head_children(head);

	if (head->form == WIRE_RESERVED)
		return err_set(
			err, ERR_INVALID, "byte %zu of a message is not msgpack", scanner->at);

	count_object(scanner);
	scanner->at += head->len + body_len; /* less than 2^33 past the ceiling: cannot overflow */
	scanner->missing += children;
	if (scanner->at > scanner->size_max || scanner->missing > scanner->size_max - scanner->at)
		return err_set(err, ERR_TOO_BIG,
			"message has more than %zu bytes: send large contents ahead with blob.put",
			scanner->size_max);

	if (head->form == WIRE_LIST || head->form == WIRE_MAP)
		return descend(scanner, children, err);
	return 0;
}

int wire_scan(struct wire_scanner *scanner, const char *bytes, size_t len, size_t *ret_len,
	struct err *err)
{
	struct wire_head head;

	while (scanner->missing > 0) {
		if (scanner->at >= len)
			return 0;
		if (!wire_head_read(bytes + scanner->at, len - scanner->at, &head))
			return 0;
		if (take_head(scanner, &head, err) < 0)
			return -1;
		ascend(scanner);
	}

	if (scanner->at > len)
		return 0;
	*ret_len = scanner->at;
	return 1;
}
