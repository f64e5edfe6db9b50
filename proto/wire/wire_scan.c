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
	scanner->is_too_deep = false;
	scanner->skips = false;
}

/* Enters a list or map that is not empty. */
static int descend(struct wire_scanner *scanner, uint64_t children, struct err *err)
{
	if (scanner->depth >= scanner->depth_max) {
		scanner->is_too_deep = true;
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
	if (scanner->depth > 0 && !scanner->skips)
		scanner->left[scanner->depth - 1]--;
}

static void ascend(struct wire_scanner *scanner)
{
	while (scanner->depth > 0 && scanner->left[scanner->depth - 1] == 0)
		scanner->depth--;
}

/*
 * Every announced object takes at least one byte.  So a message that is too big is known long before
 * its bytes arrive.
 */
static bool is_longer_than(const struct wire_scanner *scanner, size_t most)
{
	return scanner->at > most || scanner->missing > most - scanner->at;
}

bool wire_scan_may_skip(const struct wire_scanner *scanner)
{
	if (scanner->skips || is_longer_than(scanner, WIRE_SKIP_MAX))
		return false;
	return scanner->is_too_deep || is_longer_than(scanner, scanner->size_max);
}

/* Processes one head.  Below a refused one `missing` alone says where the message ends. */
static int take_head(struct wire_scanner *scanner, const struct wire_head *head, struct err *err)
{
	uint64_t children = wire_head_children(head);
	size_t most = scanner->skips ? WIRE_SKIP_MAX : scanner->size_max;

	if (head->form == WIRE_RESERVED)
		return err_set(
			err, ERR_INVALID, "byte %zu of a message is not msgpack", scanner->at);

	count_object(scanner);
	/* less than 2^33 past the ceiling: cannot overflow */
	scanner->at += head->len + wire_head_body_len(head);
	scanner->missing += children;
	if (is_longer_than(scanner, most))
		return err_set(err, ERR_TOO_BIG,
			"message has more than %zu bytes: send large contents ahead with blob.put",
			scanner->size_max);

	if (!scanner->skips && (head->form == WIRE_LIST || head->form == WIRE_MAP))
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
		if (!scanner->skips)
			ascend(scanner);
	}

	if (scanner->at > len)
		return 0;
	*ret_len = scanner->at;
	return 1;
}
