#include "proto/job/call_room.h"

#define ROOM_OF_VALUE 64 /* with its place in a list or in a map */

/* Before each value but the first of a text stands one of these. */
static bool is_mark(char byte)
{
	return byte == ',' || byte == ':' || byte == '[';
}

uint64_t call_room_of(struct bytes text)
{
	uint64_t values = 1;

	for (size_t i = 0; i < text.len; i++)
		values += is_mark(text.data[i]);
	return 2 * (uint64_t)text.len + values * ROOM_OF_VALUE;
}
